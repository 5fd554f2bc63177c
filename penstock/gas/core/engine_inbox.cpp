// What a rank does with the messages that it gets.
#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "penstock/base/base.hpp"
#include "penstock/gas/core/atomic_operation.hpp"
#include "penstock/gas/core/engine.hpp"
#include "penstock/gas/core/rank_index.hpp"

namespace penstock::gas {
namespace {

using layout::Layout;

void copy_to_place(std::byte* place, std::span<const std::byte> payload) {
  if (!payload.empty() && payload.data() != place) {
    std::memcpy(place, payload.data(), payload.size());
  }
}

}  // namespace

void Request::check() const {
  if (!failure_.empty()) {
    throw Error(failure_);
  }
}

void Request::abandon() noexcept {
  is_given_up_ = true;
  if (!is_placed_) {
    is_done_.store(true, std::memory_order_release);
  }
}

SegmentPart* Engine::part(std::uint64_t id) noexcept {
  const auto found = segments_.find(static_cast<std::uint32_t>(id));
  return found == segments_.end() ? nullptr : &found->second;
}

std::byte* Engine::make_parcel(std::size_t bytes) {
  std::vector<std::byte> parcel(bytes);
  std::byte* const data = parcel.data();
  parcels_.emplace(data, std::move(parcel));
  return data;
}

std::byte* Engine::place(int /*source*/, const Header& header) {
  std::byte* place = nullptr;
  switch (header.kind) {
    case MessageKind::put:
    case MessageKind::active_long: {
      const SegmentPart* const to = part(header.kind == MessageKind::put ? header.target : header.signal);
      place = to == nullptr ? nullptr : to->data + header.offset;
      break;
    }
    case MessageKind::got: {
      Request& request = *requests_.at(header.cookie);
      if (!request.is_given_up_) {
        request.is_placed_ = true;
        place = request.place(header);
      }
      break;
    }
    default:  // what is unpacked, or kept
      break;
  }
  return place != nullptr ? place : make_parcel(header.bytes);
}

/// Answers a message that wants an answer.
void Engine::answer(int peer, const Header& asked, Header reply, std::span<const std::byte> payload,
                    std::shared_ptr<Completion> sent) {
  if (asked.cookie != 0) {
    reply.cookie = asked.cookie;
    send_locked(peer, reply, payload, std::move(sent));
  }
}

void Engine::deliver(int source, const Header& header, std::span<const std::byte> payload) {
  /// Ends the parcel of a payload that had no place, whatever comes of the message.
  struct Parcel {
    Engine& engine;
    const std::byte* data;
    ~Parcel() {
      if (!engine.parcels_.empty()) {
        engine.parcels_.erase(data);
      }
    }
  };
  const Parcel parcel{*this, payload.data()};
  switch (header.kind) {
    case MessageKind::put:
    case MessageKind::put_layout:
    case MessageKind::get:
    case MessageKind::get_layout:
    case MessageKind::atomic:
      serve(source, header, payload);
      return;
    case MessageKind::active:
    case MessageKind::active_long:
      run_handler(source, header, payload);
      return;
    case MessageKind::collective:
      // Of a call that has failed, messages may come when its team is gone.
      if (const auto calls = calls_.find(header.target); calls != calls_.end()) {
        calls->second->deliver(header, payload);
      }
      return;
    case MessageKind::done:
    case MessageKind::got:
    case MessageKind::value:
    case MessageKind::refused:
      take_answer(source, header, payload);
      return;
  }
}

/// What peers do to the memory of this rank.
void Engine::serve(int source, const Header& header, std::span<const std::byte> payload) {
  SegmentPart* const to = part(header.target);
  if (to == nullptr) {
    if (header.cookie == 0) {
      throw Error(fmt::format("a put of rank {} has come for a segment that this rank has freed", source));
    }
    answer(source, header, {.kind = MessageKind::refused}, {});
    return;
  }
  std::byte* const data = to->data + header.offset;
  switch (header.kind) {
    case MessageKind::get:
      answer(source, header, {.kind = MessageKind::got, .bytes = header.bytes}, {data, header.bytes});
      return;
    case MessageKind::get_layout: {
      const Layout from = layout::layout_from(payload);
      auto sent = std::make_shared<Completion>();
      std::vector<std::byte>& packed = sent->parcel;
      packed.resize(static_cast<std::size_t>(from.bytes()));
      movers_.compile(from, Layout::contiguous(from.bytes()))(data, packed.data());
      answer(source, header, {.kind = MessageKind::got, .bytes = packed.size()}, packed, sent);
      return;
    }
    case MessageKind::atomic:
      answer(source, header, {.kind = MessageKind::value, .a = carry_out(atomic_from(header), data)}, {});
      return;
    case MessageKind::put_layout: {
      const Layout layout = layout::layout_from(payload.first(header.a));
      movers_.compile(Layout::contiguous(layout.bytes()), layout)(payload.data() + header.a, data);
      break;
    }
    default:
      copy_to_place(data, payload);
  }
  if (header.signal != Header::no_signal) {
    to->change(header.signal, header.kind == MessageKind::put ? header.a : 0);
  }
  if (header.cookie != 0) {
    std::vector<CookieRun>& acks = acks_[index(source)];
    if (acks.empty()) {
      owed_acks_.push_back(source);
    }
    if (!acks.empty() && acks.back().first + acks.back().count == header.cookie) {
      ++acks.back().count;
    } else {
      acks.push_back({.first = header.cookie, .count = 1});
    }
  }
}

void Engine::run_handler(int source, const Header& header, std::span<const std::byte> payload) {
  const auto table = tables_.find(header.target);
  if (table == tables_.end()) {
    throw Error(fmt::format("an active message of rank {} has come for a table that this rank has freed", source));
  }
  if (header.kind == MessageKind::active) {
    table->second(source, header, payload);
    return;
  }
  const SegmentPart* const to = part(header.signal);
  if (to == nullptr) {
    table->second(source, header, std::nullopt);
    return;
  }
  // A local sender has written the payload itself.
  std::byte* const data = to->data + header.offset;
  copy_to_place(data, payload);
  table->second(source, header, std::span<const std::byte>(data, header.bytes));
}

template <class Take>
void Engine::finish_request(std::uint64_t cookie, const Take& take) {
  const auto found = requests_.find(cookie);
  PENSTOCK_ASSERT(found != requests_.end());
  const std::shared_ptr<Request> request = std::move(found->second);
  requests_.erase(found);
  take(*request);
  request->is_done_.store(true, std::memory_order_release);
}

void Engine::take_answer(int source, const Header& header, std::span<const std::byte> payload) {
  if (header.kind == MessageKind::done) {
    const auto finish = [this](const CookieRun& run) {
      for (std::uint64_t i = 0; i < run.count; ++i) {
        finish_request(run.first + i, [](Request&) {});
      }
    };
    finish({.first = header.cookie, .count = header.a});
    for (; !payload.empty(); payload = payload.subspan(sizeof(CookieRun))) {
      CookieRun run;
      std::memcpy(&run, payload.data(), sizeof run);
      finish(run);
    }
    return;
  }
  finish_request(header.cookie, [&](Request& request) {
    if (header.kind == MessageKind::refused) {
      request.failure_ = fmt::format("rank {} of the world has freed the segment that this rank still uses", source);
    } else if (!request.is_given_up_) {
      request.take(header, payload);
    }
  });
}

}  // namespace penstock::gas

// What a rank does with the messages that it gets.
#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "penstock/base/base.hpp"
#include "penstock/gas/atomic_operation.hpp"
#include "penstock/gas/engine.hpp"

namespace penstock::gas {
namespace {

using layout::Layout;

void copy_to_place(std::byte* place, std::span<const std::byte> payload) {
  if (!payload.empty() && payload.data() != place) {
    std::memcpy(place, payload.data(), payload.size());
  }
}

}  // namespace

SegmentPart& Engine::part(std::uint64_t id) {
  const auto found = segments_.find(static_cast<std::uint32_t>(id));
  if (found == segments_.end()) {
    throw Error("a message arrived for a segment that this rank has freed");
  }
  return found->second;
}

std::byte* Engine::make_parcel(std::size_t bytes) {
  std::vector<std::byte> parcel(bytes);
  std::byte* const data = parcel.data();
  parcels_.emplace(data, std::move(parcel));
  return data;
}

std::byte* Engine::place(int source, const Header& header) {
  switch (header.kind) {
    case MessageKind::put:
      return part(header.target).data + header.offset;
    case MessageKind::active_long:
      return part(header.signal).data + header.offset;
    case MessageKind::put_layout:
    case MessageKind::get_layout:
      return make_parcel(header.bytes);
    case MessageKind::got:
      return requests_.at(header.cookie)->place(header);
    case MessageKind::collective: {
      const auto calls = calls_.find(header.target);
      std::byte* const wanted = calls == calls_.end() ? nullptr : calls->second->place(source, header);
      return wanted != nullptr ? wanted : make_parcel(header.bytes);
    }
    default:
      throw Error(fmt::format("rank {} sent a long message of kind {}, which has no place", source,
                              static_cast<int>(header.kind)));
  }
}

void Engine::finish_put(int source, const Header& header) {
  if (header.signal != Header::no_signal) {
    part(header.target).raise(header.signal);
  }
  answer(source, header, {.kind = MessageKind::done}, {});
}

/// Answers a message that wants an answer.
void Engine::answer(int peer, const Header& asked, Header reply, std::span<const std::byte> payload,
                    std::shared_ptr<Sent> sent) {
  if (asked.cookie != 0) {
    reply.cookie = asked.cookie;
    send_in_turn(peer, reply, payload, std::move(sent));
  }
}

void Engine::deliver(int source, const Header& header, std::span<const std::byte> payload) {
  switch (header.kind) {
    case MessageKind::put: {
      copy_to_place(part(header.target).data + header.offset, payload);
      finish_put(source, header);
      return;
    }
    case MessageKind::put_layout: {
      const Layout to = layout::layout_from(payload.first(header.a));
      const std::span<const std::byte> data = payload.subspan(header.a);
      movers_.compile(Layout::contiguous(to.bytes()), to)(data.data(), part(header.target).data + header.offset);
      parcels_.erase(payload.data());
      finish_put(source, header);
      return;
    }
    case MessageKind::get_layout: {
      const Layout from = layout::layout_from(payload);
      auto sent = std::make_shared<Sent>();
      std::vector<std::byte>& packed = sent->parcel;
      packed.resize(static_cast<std::size_t>(from.bytes()));
      movers_.compile(from, Layout::contiguous(from.bytes()))(part(header.target).data + header.offset, packed.data());
      parcels_.erase(payload.data());
      answer(source, header, {.kind = MessageKind::got, .bytes = packed.size()}, packed, sent);
      return;
    }
    case MessageKind::get:
      answer(source, header, {.kind = MessageKind::got, .bytes = header.bytes},
             {part(header.target).data + header.offset, header.bytes});
      return;
    case MessageKind::atomic:
      answer(
          source, header,
          {.kind = MessageKind::value, .a = carry_out(atomic_from(header), part(header.target).data + header.offset)},
          {});
      return;
    case MessageKind::active_long:
      // A local sender has written the payload itself.
      copy_to_place(part(header.signal).data + header.offset, payload);
      payload = {part(header.signal).data + header.offset, header.bytes};
      [[fallthrough]];
    case MessageKind::active: {
      const auto table = tables_.find(header.target);
      if (table == tables_.end()) {
        throw Error(fmt::format("an active message of rank {} arrived for a table that this rank has freed", source));
      }
      table->second(source, header, payload);
      return;
    }
    case MessageKind::collective: {
      // Of a call that has failed, messages may come when its team is gone.
      if (const auto calls = calls_.find(header.target); calls != calls_.end()) {
        calls->second->deliver(source, header, payload);
      }
      if (payload.size() > most_inline_bytes) {
        parcels_.erase(payload.data());
      }
      return;
    }
    case MessageKind::done:
    case MessageKind::got:
    case MessageKind::value: {
      const auto found = requests_.find(header.cookie);
      PENSTOCK_ASSERT(found != requests_.end());
      const std::shared_ptr<Request> request = std::move(found->second);
      requests_.erase(found);
      request->take(header, payload);
      request->is_answered_.store(true, std::memory_order_release);
      return;
    }
  }
}

}  // namespace penstock::gas

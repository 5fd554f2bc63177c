// Exchanges: the ways to carry their messages, chosen once, and the waiting for them.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "penstock/base/base.hpp"
#include "penstock/base/trace.hpp"
#include "penstock/gas/collective/collective_registry.hpp"
#include "penstock/gas/core/team_parts.hpp"
#include "penstock/gas/exchange/message_backend.hpp"
#include "penstock/gas/exchange/waves.hpp"
#include "penstock/gas/gas.hpp"
#include "penstock/gas/transport/transport.hpp"

namespace penstock::gas {
namespace {

/// Throws Error where this rank's messages do not lie in the segment.
void check_messages(const Team& team, const Segment& segment, const std::vector<Outgoing>& outgoing,
                    const std::vector<Incoming>& incoming) {
  const auto check = [&](const char* what, int peer, std::size_t offset, std::size_t bytes, int owner) {
    if (peer < 0 || peer >= team.size()) {
      throw Error(
          fmt::format("an exchange lists a message {} rank {}, and the team has {} ranks", what, peer, team.size()));
    }
    const std::size_t has = segment.bytes_of(owner < 0 ? peer : owner);
    if (bytes == 0 || offset > has || bytes > has - offset) {
      throw Error(
          fmt::format("an exchange lists a message {} rank {} of {} bytes at offset {} of a part of {}: it must "
                      "lie within, and have a byte",
                      what, peer, bytes, offset, has));
    }
  };
  for (const Outgoing& message : outgoing) {
    check("to", message.peer, message.offset, message.bytes, -1);
  }
  for (const Incoming& message : incoming) {
    check("from", message.peer, message.offset, message.bytes, team.rank());
  }
}

/// Collective: throws Error on every rank where a message is not listed by both its ranks. One number of each rank
/// tells: what is sent counts for it, what is received against it, and together they make nothing.
void agree_on_messages(const Team& team, const Segment& segment, const std::vector<Outgoing>& outgoing,
                       const std::vector<Incoming>& incoming) {
  std::uint64_t balance = 0;
  team.together([&] {
    check_messages(team, segment, outgoing, incoming);
    const auto me = static_cast<std::uint64_t>(team.rank());
    for (const Outgoing& message : outgoing) {
      balance +=
          trace::mix({me, static_cast<std::uint64_t>(message.peer), message.index, message.offset, message.bytes});
    }
    for (std::size_t i = 0; i < incoming.size(); ++i) {
      const Incoming& message = incoming[i];
      balance -= trace::mix({static_cast<std::uint64_t>(message.peer), me, i, message.offset, message.bytes});
    }
  });
  std::uint64_t sum = 0;
  for (const std::uint64_t one : team.all_gather(balance)) {
    sum += one;
  }
  if (sum != 0) {
    throw TeamFailure(
        "the ranks differ in the messages of an exchange: list each on the rank that sends it and on the one that "
        "receives it, with the same offset and length",
        true);
  }
}

/// By which the two ranks of a message name it: by the calls of the team before, and by its number at the receiver.
std::uint64_t message_id(const Team& team, int receiver, std::size_t number) {
  const TeamParts& parts = team.parts();
  return trace::mix(
      {parts.calls->trace_id(), 3, parts.transport->completed(), static_cast<std::uint64_t>(receiver), number});
}

}  // namespace

Exchange::Exchange(const Team& team, const Segment& segment, std::vector<Outgoing> outgoing,
                   std::vector<Incoming> incoming, Carrier carrier, const ExchangeMethod* method)
    : calls_(team.parts().calls.get()), way_(team.run_or_revoke([&] {
        agree_on_messages(team, segment, outgoing, incoming);
        for (const Outgoing& message : outgoing) {
          outgoing_.push_back({team.world_rank(message.peer), static_cast<std::int64_t>(message.bytes),
                               message_id(team, message.peer, message.index)});
        }
        for (std::size_t i = 0; i < incoming.size(); ++i) {
          incoming_.push_back({team.world_rank(incoming[i].peer), static_cast<std::int64_t>(incoming[i].bytes),
                               message_id(team, team.rank(), i)});
        }
        return method != nullptr
                   ? method->make(team, segment, std::move(outgoing), std::move(incoming))
                   : exchange_by_messages(team, segment, std::move(outgoing), std::move(incoming), carrier);
      })) {}

Exchange::~Exchange() = default;
Exchange::Exchange(Exchange&&) noexcept = default;
Exchange& Exchange::operator=(Exchange&&) noexcept = default;

std::size_t Exchange::buffer_bytes(const Team& team, const std::vector<Outgoing>& outgoing,
                                   const ExchangeMethod* method) {
  return method != nullptr ? method->buffer_bytes(team, outgoing) : lay_out_staging(team, outgoing).bytes;
}

void Exchange::open() {
  ++round_;
  way_->open();
}

bool Exchange::is_open(std::size_t message) {
  return way_->is_open(message);
}

std::byte* Exchange::destination(std::size_t message) {
  if (!way_->is_open(message)) {
    const trace::Span span("wait to write", trace::Category::wait, {.peer = outgoing_[message].peer});
    calls_->wait([&] { return way_->is_open(message); });
  }
  return way_->destination(message);
}

void Exchange::send(std::size_t message) {
  const Traced& sent = outgoing_[message];
  const trace::Span span("send", trace::Category::send,
                         {.peer = sent.peer, .bytes = sent.bytes, .id = trace::mix({sent.id, round_})});
  way_->send(message);
}

bool Exchange::has_arrived(std::size_t message) {
  return way_->has_arrived(message);
}

void Exchange::wait(std::size_t message) {
  if (!way_->has_arrived(message)) {
    const Traced& awaited = incoming_[message];
    const trace::Span span("wait", trace::Category::wait,
                           {.peer = awaited.peer, .bytes = awaited.bytes, .after = trace::mix({awaited.id, round_})});
    calls_->wait([&] { return way_->has_arrived(message); });
  }
}

bool Exchange::has_finished() {
  return way_->has_finished();
}

void Exchange::progress() {
  way_->progress();
}

bool Exchange::needs_progress() const noexcept {
  return way_->needs_progress();
}

void Exchange::finish() {
  if (!way_->has_finished()) {
    const trace::Span span("wait to finish", trace::Category::wait);
    calls_->wait([&] { return way_->has_finished(); });
  }
}

}  // namespace penstock::gas

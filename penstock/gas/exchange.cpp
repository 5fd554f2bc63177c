// Exchanges: scheduled messages, written in place where the peer is local and sent by persistent messages elsewhere.
#include <algorithm>
#include <utility>

#include "penstock/base/base.hpp"
#include "penstock/gas/engine.hpp"
#include "penstock/gas/gas.hpp"
#include "penstock/gas/rank_index.hpp"
#include "penstock/gas/transport/transport.hpp"

namespace penstock::gas {
struct Exchange::State {
  Engine& engine;
  Transport& transport;
  const Segment& segment;
  std::vector<Outgoing> outgoing;
  std::vector<Incoming> incoming;
  std::vector<int> sources;  // the local ranks that send to this one, each once
  // Signal r counts the rounds that rank r has opened towards this one; signal size() + m the arrivals of message m.
  Segment signals;
  std::uint64_t round = 0;

  // For peers that are not local.
  Memory buffer;
  std::vector<std::byte*> buffers;                  // by outgoing message; nullptr where the peer is local
  std::vector<std::unique_ptr<Channel>> senders;    // by outgoing message
  std::vector<std::unique_ptr<Channel>> receivers;  // by incoming message
  std::vector<std::atomic<std::uint64_t>> arrived;  // by incoming message: the round whose arrival was seen

  std::size_t arrival_signal(std::size_t message) const { return index(transport.size()) + message; }

  bool has_arrived(std::size_t message) {
    if (receivers[message] == nullptr) {
      return signals.value(arrival_signal(message)) >= round;
    }
    if (arrived[message].load(std::memory_order_acquire) == round) {
      return true;
    }
    if (!receivers[message]->test()) {
      return false;
    }
    arrived[message].store(round, std::memory_order_release);
    return true;
  }
};

Exchange::Exchange(const Team& team, const Segment& segment, std::vector<Outgoing> outgoing,
                   std::vector<Incoming> incoming) {
  Transport& transport = team.transport();
  const std::size_t signals = index(team.size()) + incoming.size();
  std::size_t buffer_bytes = 0;
  for (const Outgoing& message : outgoing) {
    PENSTOCK_ASSERT(message.bytes > 0);
    buffer_bytes += team.is_local(message.peer) ? 0 : message.bytes;
  }
  Memory buffer;
  team.together([&] { buffer = Memory(buffer_bytes); });
  state_.reset(new State{.engine = team.engine(),
                         .transport = transport,
                         .segment = segment,
                         .outgoing = std::move(outgoing),
                         .incoming = std::move(incoming),
                         .sources = {},
                         .signals = Segment(team, 0, signals),
                         .buffer = std::move(buffer),
                         .buffers = {},
                         .senders = {},
                         .receivers = {},
                         .arrived = {}});
  State& state = *state_;
  std::size_t offset = 0;
  for (const Outgoing& message : state.outgoing) {
    const bool is_local = team.is_local(message.peer);
    std::byte* data = is_local ? nullptr : state.buffer.data() + offset;
    state.buffers.push_back(data);
    state.senders.push_back(is_local ? nullptr : transport.send_channel(message.peer, {data, message.bytes}));
    offset += is_local ? 0 : message.bytes;
  }
  for (const Incoming& message : state.incoming) {
    const bool is_local = team.is_local(message.peer);
    state.receivers.push_back(
        is_local ? nullptr
                 : transport.receive_channel(message.peer, segment.local().subspan(message.offset, message.bytes)));
    if (is_local) {
      state.sources.push_back(message.peer);
    }
  }
  std::sort(state.sources.begin(), state.sources.end());
  state.sources.erase(std::unique(state.sources.begin(), state.sources.end()), state.sources.end());
  state.arrived = std::vector<std::atomic<std::uint64_t>>(state.incoming.size());
}

Exchange::~Exchange() = default;
Exchange::Exchange(Exchange&&) noexcept = default;
Exchange& Exchange::operator=(Exchange&&) noexcept = default;

void Exchange::open() {
  State& state = *state_;
  ++state.round;
  for (const auto& receiver : state.receivers) {
    if (receiver != nullptr) {
      receiver->start();
    }
  }
  for (const int source : state.sources) {
    state.signals.notify(source, index(state.transport.rank()));
  }
}

std::byte* Exchange::destination(std::size_t message) {
  State& state = *state_;
  if (state.buffers[message] != nullptr) {
    return state.buffers[message];
  }
  const Outgoing& out = state.outgoing[message];
  state.engine.wait([&] { return state.signals.value(index(out.peer)) >= state.round; });
  return state.segment.address_at(out.peer) + out.offset;
}

void Exchange::send(std::size_t message) {
  State& state = *state_;
  if (state.senders[message] != nullptr) {
    state.senders[message]->start();
  } else {
    const Outgoing& out = state.outgoing[message];
    state.signals.notify(out.peer, state.arrival_signal(out.index));
  }
}

void Exchange::wait(std::size_t message) {
  State& state = *state_;
  state.engine.wait([&] { return state.has_arrived(message); });
}

void Exchange::finish() {
  State& state = *state_;
  for (const auto& sender : state.senders) {
    if (sender != nullptr) {
      state.engine.wait([&] { return sender->test(); });
    }
  }
}

}  // namespace penstock::gas

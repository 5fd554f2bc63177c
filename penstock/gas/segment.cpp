// Segments: memory that peers write into, and the signals that tell of it.
#include <fmt/format.h>

#include <cstring>
#include <limits>
#include <new>
#include <utility>

#include "penstock/base/base.hpp"
#include "penstock/gas/gas.hpp"
#include "penstock/gas/transport/transport.hpp"

namespace penstock::gas {
namespace {

// One signal to a pair of cache lines, since processors fetch lines in pairs.
constexpr std::size_t signal_bytes = 128;

using Counter = std::atomic<std::uint64_t>;
static_assert(Counter::is_always_lock_free);

std::size_t index(int rank) {
  return static_cast<std::size_t>(rank);
}

}  // namespace

// The signals lie behind the data, in the same mapping.
struct Segment::State {
  Transport& transport;
  std::uint64_t id;
  struct Part {
    std::size_t bytes;
    std::size_t signals;
  };
  std::vector<Part> parts;
  std::unique_ptr<Region> region;

  static std::size_t signals_offset(const Part& part) {
    return (part.bytes + signal_bytes - 1) / signal_bytes * signal_bytes;
  }

  Counter& counter(int rank, std::byte* base, std::size_t signal) const {
    const Part& part = parts[index(rank)];
    PENSTOCK_ASSERT(signal < part.signals);
    // The mapping is zeroed memory, which is what a counter at 0 looks like in every process.
    return *std::launder(reinterpret_cast<Counter*>(base + signals_offset(part) + signal * signal_bytes));
  }

  Counter& my_counter(std::size_t signal) const { return counter(transport.rank(), region->mine.data(), signal); }

  ~State() { transport.set_put_target(id, {}); }
};

Segment::Segment(const Team& team, std::size_t bytes, std::size_t signals) {
  std::string failure;
  if (bytes > std::numeric_limits<std::size_t>::max() / 2 ||
      signals > std::numeric_limits<std::size_t>::max() / 4 / signal_bytes) {
    failure = fmt::format("a segment of {} bytes and {} signals: more than an address space", bytes, signals);
  }
  team.agree(failure);
  Transport& transport = team.transport();
  const State::Part mine{bytes, signals};
  auto parts = team.all_gather(mine);
  auto region = transport.map(State::signals_offset(mine) + signals * signal_bytes);
  // Segments are made collectively, so that this count is the same on every rank of the team.
  const std::uint64_t id = transport.next_id();
  state_.reset(new State{transport, id, std::move(parts), std::move(region)});
  State* state = state_.get();
  transport.set_put_target(
      id, {.address = [state](const PutHeader& header) { return state->region->mine.data() + header.offset; },
           .complete =
               [state](const PutHeader& header) {
                 state->my_counter(header.signal).fetch_add(1, std::memory_order_release);
               }});
  team.barrier();  // no put may arrive before its target is known
}

Segment::~Segment() = default;
Segment::Segment(Segment&&) noexcept = default;
Segment& Segment::operator=(Segment&&) noexcept = default;

std::span<std::byte> Segment::local() const noexcept {
  return state_->region->mine.first(state_->parts[index(state_->transport.rank())].bytes);
}

std::byte* Segment::address_at(int peer) const noexcept {
  return state_->region->at[index(peer)];
}

void Segment::put(int peer, std::size_t offset, std::span<const std::byte> data, std::size_t signal) {
  const State::Part& part = state_->parts[index(peer)];
  if (offset > part.bytes || data.size() > part.bytes - offset || signal >= part.signals) {
    throw Error(
        fmt::format("a put of {} bytes at offset {} with signal {} does not fit into rank {}'s segment of {} bytes "
                    "and {} signals",
                    data.size(), offset, signal, peer, part.bytes, part.signals));
  }
  if (std::byte* base = address_at(peer); base != nullptr) {
    std::memcpy(base + offset, data.data(), data.size());
    notify(peer, signal);
  } else {
    state_->transport.put(peer, {.segment = state_->id, .offset = offset, .bytes = data.size(), .signal = signal},
                          data);
  }
}

void Segment::notify(int peer, std::size_t signal) {
  if (std::byte* base = address_at(peer); base != nullptr) {
    state_->counter(peer, base, signal).fetch_add(1, std::memory_order_release);
  } else {
    state_->transport.put(peer, {.segment = state_->id, .offset = 0, .bytes = 0, .signal = signal}, {});
  }
}

std::uint64_t Segment::value(std::size_t signal) const {
  return state_->my_counter(signal).load(std::memory_order_acquire);
}

void Segment::wait(std::size_t signal, std::uint64_t at_least) const {
  wait_with_peers(state_->transport, [&] {
    if (value(signal) >= at_least) {
      return true;
    }
    state_->transport.serve_puts();
    return false;
  });
}

}  // namespace penstock::gas

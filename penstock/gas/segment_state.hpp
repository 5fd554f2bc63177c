// What a segment is made of. Private to the module.
#pragma once

#include <fmt/format.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/gas/atomic_operation.hpp"
#include "penstock/gas/engine.hpp"
#include "penstock/gas/gas.hpp"

namespace penstock::gas {

/// The signals lie behind the data, in the same mapping.
struct Segment::State {
  // One signal to a pair of cache lines, since processors fetch lines in pairs.
  static constexpr std::size_t signal_bytes = 128;
  using Counter = std::atomic<std::uint64_t>;
  static_assert(Counter::is_always_lock_free);
  static_assert(no_signal == Header::no_signal);

  struct Part {
    std::size_t bytes = 0;
    std::size_t signals = 0;
    std::uint32_t id = 0;  // by which messages name it, on the rank that has it
    int world_rank = 0;
    std::size_t key_bytes = 0;  // what its network key takes; 0 where it is reached by messages only
  };

  State(const Team& team, std::unique_ptr<Region> memory)
      : engine(team.engine()), rank(team.rank()), region(std::move(memory)) {}
  ~State() {
    engine.remove_segment(id);
    engine.withdraw(is_exposed ? region->mine : std::span<std::byte>(), std::move(remote));
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  static std::size_t signals_offset(const Part& part) {
    return (part.bytes + signal_bytes - 1) / signal_bytes * signal_bytes;
  }

  /// A signal of a rank whose part is mapped here.
  Counter& counter(int of, std::size_t signal) const {
    const auto at = static_cast<std::size_t>(of);
    const Part& part = parts[at];
    PENSTOCK_ASSERT(signal < part.signals);
    return counter_at(region->at[at] + signals_offset(part), signal);
  }

  /// Adds one to a signal of a rank whose part is mapped here, unless it is `no_signal`.
  void raise(int peer, std::size_t signal) const {
    if (signal != no_signal) {
      counter(peer, signal).fetch_add(1, std::memory_order_release);
    }
  }

  /// Carries the operation out, wherever the word lies, and returns what was there before.
  std::uint64_t carry_out_at(Pointer<> word, const AtomicOperation& operation);

  /// Of the signals that begin at `first`.
  static Counter& counter_at(std::byte* first, std::size_t signal) {
    // The mapping is zeroed memory, which is what a counter at 0 looks like in every process.
    return *std::launder(reinterpret_cast<Counter*>(first + signal * signal_bytes));
  }

  /// Opens this rank's `bytes` bytes to the network where peers are reached through it; returns the key to them.
  std::vector<std::byte> expose(const Team& team, std::size_t bytes);

  /// Collective: learns how the network reaches the parts of peers that are not mapped; `key` is to this rank's.
  void reach_parts(const Team& team, std::vector<std::byte> key);

  /// The part of `peer` as the network reads and writes it by itself; nullptr where messages do.
  RemoteMemory* remote_at(int peer) const { return remote[static_cast<std::size_t>(peer)].get(); }

  /// The same for a put. What is short and comes with a signal goes as one message, which takes one way through the
  /// network: a put has to be known to have arrived before its signal may follow.
  RemoteMemory* remote_for_put(int peer, std::size_t bytes, std::size_t signal) const {
    return bytes == 0 || (signal != no_signal && bytes <= most_inline_bytes) ? nullptr : remote_at(peer);
  }

  /// The part of `peer`, which has `bytes` bytes at `offset`; else Error.
  const Part& check(const char* what, int peer, std::size_t offset, std::size_t bytes) const {
    if (peer < 0 || static_cast<std::size_t>(peer) >= parts.size()) {
      throw Error(fmt::format("a {} names rank {}, and the team has {}", what, peer, parts.size()));
    }
    const Part& part = parts[static_cast<std::size_t>(peer)];
    if (offset > part.bytes || bytes > part.bytes - offset) {
      throw Error(
          fmt::format("a {} of {} bytes at offset {} does not fit into rank {}'s part of the segment, which has "
                      "{} bytes",
                      what, bytes, offset, peer, part.bytes));
    }
    return part;
  }

  /// The same for what `layout` names around `offset`; of `bytes` bytes, as the other side has.
  const Part& check(const char* what, int peer, std::size_t offset, const layout::Layout& layout,
                    std::int64_t bytes) const {
    if (layout.bytes() != bytes) {
      throw Error(fmt::format("a {} between {} bytes here and {} bytes on rank {}: they must be equal", what, bytes,
                              layout.bytes(), peer));
    }
    const Part& part = check(what, peer, offset, 0);
    const auto below = static_cast<std::int64_t>(offset);
    const auto above = static_cast<std::int64_t>(part.bytes - offset);
    if (layout.lower_bound() < -below || layout.upper_bound() > above) {
      throw Error(
          fmt::format("a {} of bytes {} to {} around offset {} does not fit into rank {}'s part of the segment, "
                      "which has {} bytes",
                      what, layout.lower_bound(), layout.upper_bound(), offset, peer, part.bytes));
    }
    return part;
  }

  /// Throws Error where that part has no such signal.
  void check_signal(int peer, std::size_t signal) const {
    const Part& part = parts[static_cast<std::size_t>(peer)];
    if (signal != no_signal && signal >= part.signals) {
      throw Error(fmt::format("signal {} of rank {} is not there: that part of the segment has {} signals", signal,
                              peer, part.signals));
    }
  }

  Engine& engine;
  int rank;
  std::uint32_t id = 0;
  std::vector<Part> parts;
  std::unique_ptr<Region> region;
  bool is_exposed = false;
  std::vector<std::shared_ptr<RemoteMemory>> remote;  // by rank: where the network reads and writes by itself
};

}  // namespace penstock::gas

// The state of a segment on one rank: its memory, its signals, and how each peer's part is reached. Private to the
// module.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <utility>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/base/trace.hpp"
#include "penstock/gas/collective/collective_registry.hpp"
#include "penstock/gas/core/atomic_operation.hpp"
#include "penstock/gas/core/engine.hpp"
#include "penstock/gas/core/revocation.hpp"
#include "penstock/gas/core/team_parts.hpp"
#include "penstock/gas/gas.hpp"

namespace penstock::gas {

/// Contiguous bytes of a transfer between two layouts, by their distances from the origins.
struct Run {
  std::int64_t from;
  std::int64_t to;
  std::int64_t bytes;
};

/// The signals lie behind the data, in the same mapping.
struct Segment::State {
  // One signal to a pair of cache lines, since processors fetch lines in pairs.
  static constexpr std::size_t signal_bytes = 128;
  using Counter = std::atomic<std::uint64_t>;
  static_assert(Counter::is_always_lock_free);
  static_assert(no_signal == Header::no_signal);

  struct PeerSegment {
    std::size_t bytes = 0;
    std::size_t signals = 0;
    std::uint32_t id = 0;  // by which messages name it, on the rank that has it
    int world_rank = 0;
    std::uintptr_t address = 0;  // in the process of that rank, for messages
    std::size_t key_bytes = 0;   // what its network key takes; 0 where it is reached by messages only
  };

  State(const Team& team, std::unique_ptr<Region> memory)
      : engine(*team.parts().engine), calls(*team.parts().calls), rank(team.rank()), region(std::move(memory)) {}
  ~State() {
    if (has_far_peers && calls.revocation()->is_set()) {
      // Peers that do not know of it yet may go on with what they have begun: puts, and messages that name this.
      engine.withdraw({}, std::move(remote));
      engine.keep(std::move(region));
      return;
    }
    engine.remove_segment(id);
    engine.withdraw(is_exposed ? region->mine : std::span<std::byte>(), std::move(remote));
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  static std::size_t signals_offset(const PeerSegment& part) { return round_up(part.bytes, signal_bytes); }

  /// A signal of a rank whose part is mapped here.
  Counter& counter(int of, std::size_t signal) const {
    const auto at = static_cast<std::size_t>(of);
    const PeerSegment& part = parts[at];
    PENSTOCK_ASSERT(signal < part.signals);
    return counter_at(region->at[at] + signals_offset(part), signal);
  }

  /// A signal of this rank, which a caller named; else Error.
  Counter& own_counter(std::size_t signal) const {
    if (signal >= parts[static_cast<std::size_t>(rank)].signals) {
      refuse_signal(rank, signal);
    }
    return counter(rank, signal);
  }

  /// Of a counter that is mapped here.
  static void apply(Counter& counter, std::uint64_t value) {
    if (value == 0) {
      counter.fetch_add(1, std::memory_order_release);
    } else {
      counter.store(value, std::memory_order_release);
    }
  }

  /// Changes a signal of a rank whose part is mapped here, unless it is `no_signal`.
  void apply(int peer, const Change& change) const {
    if (change.signal != no_signal) {
      apply(counter(peer, change.signal), change.value);
    }
  }

  /// A put to a rank whose part is mapped here; false where it is not. Throws Error where it does not fit.
  bool put_in_place(int peer, std::size_t offset, std::span<const std::byte> data, const Change& change) const;

  /// What asks for a put at a rank whose part is not mapped here.
  Header put_header(int peer, std::size_t offset, std::size_t bytes, const Change& change) const {
    return {.kind = MessageKind::put,
            .target = parts[static_cast<std::size_t>(peer)].id,
            .offset = offset,
            .bytes = bytes,
            .signal = change.signal,
            .a = change.value};
  }

  /// Begins a put by messages, of which `request`, where there is one, learns when it is there; returns the event of
  /// its source.
  Event put_by_messages(int peer, std::size_t offset, std::span<const std::byte> data, const Change& change,
                        const std::shared_ptr<Request>& request);

  /// Carries the operation out, wherever the word lies, and returns what was there before.
  std::uint64_t carry_out_at(Pointer<> word, const AtomicOperation& operation);

  /// Of the signals that begin at `first`.
  static Counter& counter_at(std::byte* first, std::size_t signal) {
    // The mapping is zeroed memory, which is what a counter at 0 looks like in every process.
    return *std::launder(reinterpret_cast<Counter*>(first + signal * signal_bytes));
  }

  static std::unique_ptr<Region> map(const Team& team, std::size_t bytes);

  /// Opens this rank's part, its signals with it, to the network where peers are reached through it; returns the key.
  std::vector<std::byte> expose(const Team& team);

  /// Collective: learns how the network reaches the parts of peers that are not mapped; `key` is to this rank's.
  void reach_parts(const Team& team, std::vector<std::byte> key);

  /// Whether the network reads and writes any part by itself; the same on all ranks.
  bool has_remote() const noexcept { return !remote.empty(); }

  /// Whether the network reads and writes the part of `peer` for those that do not map it; the same on all ranks.
  bool is_exposed_at(int peer) const { return parts[static_cast<std::size_t>(peer)].key_bytes > 0; }

  /// The word of a peer's signal in its memory.
  Word word_of(int peer, std::size_t signal, std::uint64_t value) const {
    return {.offset = signals_offset(parts[static_cast<std::size_t>(peer)]) + signal * signal_bytes, .value = value};
  }

  /// The part of `peer` as the network reads and writes it by itself; nullptr where messages do.
  RemoteMemory* remote_at(int peer) const {
    return remote.empty() ? nullptr : remote[static_cast<std::size_t>(peer)].get();
  }

  /// Whether a signal is set by a put of its word behind that of the data.
  bool is_set_by_put(const Change& change) const noexcept { return change.value != 0 && keeps_order; }

  /// The same for a put. Else, what is short and comes with a signal goes as one message, which takes one way through
  /// the network: a put has to be known to have arrived before its signal may follow.
  RemoteMemory* remote_for_put(int peer, std::size_t bytes, const Change& change) const {
    const bool is_message = bytes == 0 || (change.signal != no_signal && bytes <= max_inline_bytes);
    return is_message && !is_set_by_put(change) ? nullptr : remote_at(peer);
  }

  /// Begins that put, and what changes the signal behind it; `source` and `seen` as RemoteMemory has `source` and
  /// `remote`; `seen` is nullptr where nobody asks.
  void put_remotely(RemoteMemory& memory, int peer, std::size_t offset, std::span<const std::byte> data,
                    const Change& change, std::shared_ptr<Completion> source, std::shared_ptr<Completion> seen);

  /// The same piece by piece, at least one: from around `data` to around `offset`. `source` expects as many transfers.
  /// Returns the event of the last one's arrival, and so of all.
  Event put_pieces(RemoteMemory& memory, int peer, std::size_t offset, const std::byte* data, std::span<const Run> runs,
                   std::size_t signal, const std::shared_ptr<Completion>& source);

  /// The part of `peer`; else Error, which says that `what` names no rank of the team.
  const PeerSegment& part_of(const char* what, int peer) const {
    if (peer < 0 || static_cast<std::size_t>(peer) >= parts.size()) {
      refuse_rank(what, peer);
    }
    return parts[static_cast<std::size_t>(peer)];
  }

  /// The part of `peer`, which has `bytes` bytes at `offset`; else Error, which tells where the bytes are there and,
  /// unless that is nullptr, `here`. Two comparisons, so that release builds check as well.
  const PeerSegment& check(const char* what, const void* here, int peer, std::size_t offset, std::size_t bytes) const {
    const PeerSegment& part = part_of(what, peer);
    if (offset > part.bytes || bytes > part.bytes - offset) {
      refuse_range(what, here, peer, offset, {.lower = 0, .upper = static_cast<std::int64_t>(bytes), .bytes = bytes});
    }
    return part;
  }

  /// The same for what `layout` names around `offset`; of `bytes` bytes, as the other side has.
  const PeerSegment& check(const char* what, const void* here, int peer, std::size_t offset,
                           const layout::Layout& layout, std::int64_t bytes) const;

  /// Throws Error where that part has no such signal.
  void check_signal(int peer, std::size_t signal) const {
    if (signal != no_signal && signal >= parts[static_cast<std::size_t>(peer)].signals) {
      refuse_signal(peer, signal);
    }
  }

  /// Of what `peer` carries out, or takes.
  Event event_of(std::shared_ptr<Operation> operation, int peer) const {
    return {engine, std::move(operation), calls.revocation(), parts[static_cast<std::size_t>(peer)].world_rank};
  }

  /// Where this thread records: what a timeline says of a transfer to `peer`, or from it; `signal` is that of the peer
  /// which tells of a put.
  trace::About about(int peer, std::size_t bytes, std::size_t signal = no_signal) const {
    if (trace::this_track() == nullptr) {
      return {};
    }
    const PeerSegment& part = part_of("a transfer", peer);
    return {.peer = part.world_rank,
            .bytes = static_cast<std::int64_t>(bytes),
            .id = signal == no_signal ? 0 : signal_id(part, signal)};
  }
  /// By which a timeline names all changes of a signal.
  static std::uint64_t signal_id(const PeerSegment& part, std::size_t signal) {
    return trace::mix({static_cast<std::uint64_t>(part.world_rank), part.id, signal});
  }

  Engine& engine;
  CollectiveRegistry& calls;
  int rank;
  std::uint32_t id = 0;
  std::vector<PeerSegment> parts;
  std::unique_ptr<Region> region;
  bool has_far_peers = false;
  bool is_exposed = false;
  bool keeps_order = false;                           // of the network: see NetworkTraits
  std::vector<std::shared_ptr<RemoteMemory>> remote;  // by rank, where the network reads and writes any by itself

 private:
  /// The bytes of a transfer: how many, and between which distances from its offset.
  struct Bounds {
    std::int64_t lower;
    std::int64_t upper;
    std::uint64_t bytes;
  };

  [[noreturn]] void refuse_rank(const char* what, int peer) const;
  [[noreturn]] void refuse_range(const char* what, const void* here, int peer, std::size_t offset,
                                 const Bounds& bounds) const;
  [[noreturn]] void refuse_signal(int peer, std::size_t signal) const;
};

}  // namespace penstock::gas

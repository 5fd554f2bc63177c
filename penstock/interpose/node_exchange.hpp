// All-to-all exchanges between the ranks of a node, through shared memory.
#pragma once

#include <mpi.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "penstock/base/memory.hpp"
#include "penstock/interpose/packed_w.hpp"
#include "penstock/mover/mover.hpp"

namespace penstock::interpose {

/// The exchanges of one communicator whose ranks all have this library and share a node. Each rank has a ring of slots
/// in shared memory: it moves its parts from where they lie in its buffer into the slots, and the receiver moves them
/// from the slots to where they belong. A ring stays in cache, so that each byte is read from memory once and written
/// once. In step s rank r sends to rank r + s and receives from rank r - s; the rank's part for itself is moved while
/// it would otherwise wait.
class NodeExchange {
 public:
  /// The exchange of `comm`, a communicator of one group; nullptr where a rank is elsewhere or without the library, and
  /// where there is no shared memory. All ranks get the same answer. Collective at the first call for a communicator;
  /// the exchange ends with it.
  static NodeExchange* of(MPI_Comm comm) noexcept;

  NodeExchange(const NodeExchange&) = delete;

  /// MPI_Alltoallw, not in place; its return code. Nothing where MPI has to serve the call: on all ranks, if one of
  /// them has arguments that MPI may have to complain of. Collective.
  std::optional<int> run(const WSide<int>& from, const WSide<int>& to) noexcept;

 private:
  struct alignas(cache_line_bytes) Word {
    std::atomic<std::uint64_t> value;
    std::uint64_t argument;  // written before the value, and read after it
  };
  struct alignas(cache_line_bytes) Slot {
    std::atomic<std::uint64_t> state;  // 2 n when it has been emptied n times, 2 n + 1 when it is filled after that
    std::int64_t bytes;
    bool is_last;  // of this receiver's
  };
  /// The memory that one rank shares: it writes all of it, but for the states of slots that receivers have emptied.
  struct Shared {
    Shared(Memory mapped, int ranks, std::int64_t bytes_of_slot) noexcept;

    Memory memory;
    Word* votes;   // two, by turns
    Word* begins;  // one for each rank: the call whose part for it begins, and the turn of the ring that it begins in
    Slot* slots;
    std::byte* data;
    std::int64_t slot_bytes;
  };
  /// The movers of a call: those of parts for other ranks in the order of the steps, from step 1 on.
  struct Movers {
    std::vector<mover::Mover> to_slots;
    std::vector<mover::Mover> from_slots;
    mover::Mover own;  // of the rank's part for itself
  };
  /// A call that was served, as most programs repeat few.
  struct Served {
    bool is_again(const WSide<int>& from, const WSide<int>& to, std::uint64_t of_types) const noexcept;

    std::vector<int> numbers;  // counts and displacements of both sides
    std::vector<MPI_Datatype> datatypes;
    std::uint64_t types_generation = 0;
    Movers movers;
  };
  /// Where the ring is after so many slots were filled: the slot, and its states.
  struct Turn {
    explicit Turn(std::uint64_t turn) noexcept
        : slot(static_cast<int>(turn % slots)), empty(turn / slots * 2), filled(empty + 1) {}
    int slot;
    std::uint64_t empty;
    std::uint64_t filled;
  };
  class Flow;

  explicit NodeExchange(MPI_Comm comm) noexcept;

  static int keyval() noexcept;
  static NodeExchange* make(MPI_Comm comm);
  bool share_memory();
  const Movers* find_movers(const WSide<int>& from, const WSide<int>& to) noexcept;
  Movers make_movers(const WSide<int>& from, const WSide<int>& to) const;
  enum class Decision : unsigned char { leave_to_mpi, serve, sample };  // sample: MPI serves it first, and is timed
  Decision decide(bool can_serve) noexcept;
  int target_of(int step) const noexcept { return (rank_ + step) % ranks_; }
  int source_of(int step) const noexcept { return (rank_ + ranks_ - step) % ranks_; }

  static constexpr int slots = 4;
  MPI_Comm comm_;
  int rank_ = 0;
  int ranks_ = 0;
  std::vector<Shared> shared_;  // by rank
  std::array<Served, 4> served_;
  std::size_t next_served_ = 0;
  std::uint64_t call_ = 0;
  std::uint64_t turn_ = 0;  // the slots that this rank has filled so far
};

}  // namespace penstock::interpose

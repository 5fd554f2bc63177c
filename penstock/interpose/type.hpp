// An MPI datatype as this library knows it: its layout, and the movers that pack and unpack a count of its elements.
#pragma once

#include <mpi.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>

#include "penstock/datatype/datatype.hpp"
#include "penstock/mover/mover.hpp"

namespace penstock::interpose {

struct Tally;
class Tallies;

/// A committed datatype, read at its first use. It may outlive the datatype while messages of it are pending: it refers
/// to nothing of MPI's. Thread-safe.
class Type : public std::enable_shared_from_this<Type> {
 public:
  /// `tallies` counts the uses; nullptr: nothing does.
  Type(mover::Cache& movers, Tallies* tallies) noexcept : movers_(movers), tallies_(tallies) {}

  /// Reads `type` unless that was done before. False where the type cannot be read, has no bytes, or is one that
  /// MPI itself has to serve.
  bool is_read(MPI_Datatype type) noexcept {
    return state_.load(std::memory_order_acquire) == State::read || read(type);
  }

  // All members below require that is_read has returned true.

  /// Bytes of an element, packed.
  std::int64_t bytes() const noexcept { return bytes_; }
  std::int64_t extent() const noexcept { return extent_; }
  /// The predefined datatype that an element is made of, one after the other when packed; MPI_DATATYPE_NULL where these
  /// are several.
  MPI_Datatype basic() const noexcept { return basic_; }
  /// The lowest offset of an element.
  std::int64_t lower_bound() const noexcept { return element_.lower_bound(); }
  /// Whether `count` elements lie in memory as they are packed.
  bool is_contiguous(std::int64_t count) const noexcept {
    return is_element_contiguous_ && (count == 1 || extent_ == bytes_);
  }
  /// The bytes of `count` elements. Throws Error beyond the limits of Layout.
  layout::Layout elements(std::int64_t count) const { return datatype::Description{element_, extent_}.of(count); }
  /// The mean length of the contiguous runs of an element.
  std::int64_t run_bytes() const noexcept { return run_bytes_; }

  /// Packs `count` elements at `user` into `packed`. Requires can_pack(count).
  void pack(std::int64_t count, const void* user, std::byte* packed) noexcept;

  /// Unpacks the first `received` packed bytes of `count` elements from `packed` to `user`. Requires can_unpack(count).
  void unpack(std::int64_t count, const std::byte* packed, void* user, std::int64_t received) noexcept;

  /// Whether there are movers for `count` elements; compiles them where needed. If not, MPI itself has to serve the
  /// call.
  bool can_pack(std::int64_t count) noexcept { return has_mover(Direction::pack, count); }
  bool can_unpack(std::int64_t count) noexcept { return has_mover(Direction::unpack, count); }

  /// True the first time it is asked.
  bool is_unwatched() noexcept { return !is_watched_.exchange(true, std::memory_order_relaxed); }

 private:
  enum class State : unsigned char { fresh, read, unreadable };
  enum class Direction : unsigned char { pack, unpack };

  struct Slot {
    std::atomic<std::int64_t> count{-1};
    mover::Mover mover;
  };
  // Programs send a type in few counts; what is beyond these is looked up among all movers.
  using Slots = std::array<Slot, 6>;

  bool read(MPI_Datatype type) noexcept;
  const mover::Mover* find_mover(Direction direction, std::int64_t count) const noexcept;
  bool has_mover(Direction direction, std::int64_t count) noexcept;
  mover::Mover make_mover(Direction direction, std::int64_t count);

  mover::Cache& movers_;
  Tallies* tallies_;
  Tally* tally_ = nullptr;
  std::atomic<State> state_{State::fresh};
  std::atomic<bool> is_watched_{false};
  std::mutex mutex_;  // of what is written after construction
  layout::Layout element_;
  std::int64_t bytes_ = 0;
  std::int64_t extent_ = 0;
  MPI_Datatype basic_ = MPI_DATATYPE_NULL;
  std::int64_t run_bytes_ = 0;
  bool is_element_contiguous_ = false;
  Slots packers_;
  Slots unpackers_;
};

}  // namespace penstock::interpose

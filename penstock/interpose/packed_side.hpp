// One side of a collective call, packed: the buffer that MPI sends from, or receives into.
//
// MPI gets the count of elements that the user gave, and a contiguous datatype of the same size. So what MPI decides by
// count and size it decides as without this library, and as on the ranks whose side is not packed.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <utility>

#include "penstock/interpose/bounce.hpp"
#include "penstock/interpose/library.hpp"
#include "penstock/interpose/type.hpp"

namespace penstock::interpose {

/// The packed form of one side's buffer, which has parts of several ranks. Without a type where MPI itself serves the
/// side.
class PackedSide {
 public:
  PackedSide() = default;
  /// A packed buffer for `count` elements at `user`, to be packed or unpacked in whole parts of `part_count`. Without a
  /// type where MPI should serve the side itself.
  static PackedSide to_send(Worth& is_worth, const void* user, std::int64_t count, int part_count,
                            MPI_Datatype datatype) noexcept;
  static PackedSide to_receive(Worth& is_worth, const void* user, std::int64_t count, int part_count,
                               MPI_Datatype datatype) noexcept;

  bool is_served() const noexcept { return type_ != nullptr; }
  /// What MPI gets for the user's buffer and datatype, which are for sides that are not served.
  template <class Pointer>
  Pointer buffer_or(Pointer users) const noexcept {
    return is_served() ? packed_.data() : users;
  }
  MPI_Datatype datatype_or(MPI_Datatype users) const noexcept { return is_served() ? twin_ : users; }

  /// Packs or unpacks `count` elements, which begin `user_offset` extents into the user's buffer and `packed_offset`
  /// elements into the packed one.
  void pack(const void* user, std::int64_t user_offset, std::int64_t packed_offset, std::int64_t count) noexcept;
  void unpack(void* user, std::int64_t user_offset, std::int64_t packed_offset, std::int64_t count) noexcept;

 private:
  static PackedSide make(Worth& is_worth, Type* type, std::int64_t count) noexcept;

  std::shared_ptr<Type> type_;
  MPI_Datatype twin_ = MPI_DATATYPE_NULL;
  Bounce packed_;
};

/// A packed side whose parts are all of `count` elements and follow one another in the user's buffer, too.
class EqualParts {
 public:
  EqualParts() = default;
  static EqualParts to_send(Worth& is_worth, const void* user, int parts, int count, MPI_Datatype datatype) noexcept {
    const std::int64_t all = std::int64_t{parts} * count;
    return {PackedSide::to_send(is_worth, user, all, count, datatype), all, count};
  }
  static EqualParts to_receive(Worth& is_worth, const void* user, int parts, int count,
                               MPI_Datatype datatype) noexcept {
    const std::int64_t all = std::int64_t{parts} * count;
    return {PackedSide::to_receive(is_worth, user, all, count, datatype), all, count};
  }

  bool is_served() const noexcept { return side_.is_served(); }
  template <class Pointer>
  Pointer buffer_or(Pointer users) const noexcept {
    return side_.buffer_or(users);
  }
  MPI_Datatype datatype_or(MPI_Datatype users) const noexcept { return side_.datatype_or(users); }

  void pack(const void* user) noexcept { side_.pack(user, 0, 0, all_); }
  void pack(const void* user, int part) noexcept {
    const std::int64_t first = part * count_;
    side_.pack(user, first, first, count_);
  }
  void unpack(void* user) noexcept { side_.unpack(user, 0, 0, all_); }

 private:
  EqualParts(PackedSide side, std::int64_t all, std::int64_t count) noexcept
      : side_(std::move(side)), all_(all), count_(count) {}

  PackedSide side_;
  std::int64_t all_ = 0;
  std::int64_t count_ = 0;
};

/// Whether `comm` is a communicator of one group; collectives between two groups are left to MPI.
bool is_intracommunicator(MPI_Comm comm) noexcept;

int rank_in(MPI_Comm comm) noexcept;
int size_of(MPI_Comm comm) noexcept;

}  // namespace penstock::interpose

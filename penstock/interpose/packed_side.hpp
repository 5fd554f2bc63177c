// One side of a collective call, packed.
//
// MPI sees elements of as many bytes each and as many of them as the user gave, contiguous: what it decides by count
// and by size of the datatype it decides as without us, and so as the ranks whose side is not packed.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <span>

#include "penstock/interpose/bounce.hpp"
#include "penstock/interpose/type.hpp"

namespace penstock::interpose {

/// The packed form of a buffer of some ranks' parts. Without a type where the side is not served.
class PackedSide {
 public:
  PackedSide() = default;
  /// Room for `count` elements at `user`, to be packed or unpacked by whole parts of `part_count`; no type where MPI
  /// should serve the side itself.
  static PackedSide to_send(const void* user, std::int64_t count, int part_count, MPI_Datatype datatype) noexcept;
  static PackedSide to_receive(const void* user, std::int64_t count, int part_count, MPI_Datatype datatype) noexcept;

  bool is_served() const noexcept { return type_ != nullptr; }
  void* buffer() const noexcept { return packed_.data(); }
  MPI_Datatype datatype() const noexcept { return twin_; }

  /// Moves `count` elements from or to the user's buffer, `user_offset` elements' extents into it and `packed_offset`
  /// elements into the packed form.
  void pack(const void* user, std::int64_t user_offset, std::int64_t packed_offset, std::int64_t count) noexcept;
  void unpack(void* user, std::int64_t user_offset, std::int64_t packed_offset, std::int64_t count) noexcept;

 private:
  static PackedSide make(Type* type, std::int64_t count) noexcept;

  Type* type_ = nullptr;
  MPI_Datatype twin_ = MPI_DATATYPE_NULL;
  Bounce packed_;
};

/// Whether `comm` is a communicator of one group; collectives between two groups are left to MPI.
bool is_intracommunicator(MPI_Comm comm) noexcept;

int rank_in(MPI_Comm comm) noexcept;
int size_of(MPI_Comm comm) noexcept;

}  // namespace penstock::interpose

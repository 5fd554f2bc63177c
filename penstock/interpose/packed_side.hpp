// One side of a collective call, packed: the buffer that MPI sends from, or receives into.
//
// MPI gets the count of elements that the user gave, and a contiguous datatype of the same size. So what MPI decides by
// count and size it decides as without this library, and as on the ranks whose side is not packed.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <span>

#include "penstock/interpose/bounce.hpp"
#include "penstock/interpose/type.hpp"

namespace penstock::interpose {

/// The packed form of one side's buffer, which has parts of several ranks. Without a type where MPI itself serves the
/// side.
class PackedSide {
 public:
  PackedSide() = default;
  /// A packed buffer for `count` elements at `user`, to be packed or unpacked in whole parts of `part_count`. Without a
  /// type where MPI should serve the side itself.
  static PackedSide to_send(const void* user, std::int64_t count, int part_count, MPI_Datatype datatype) noexcept;
  static PackedSide to_receive(const void* user, std::int64_t count, int part_count, MPI_Datatype datatype) noexcept;

  bool is_served() const noexcept { return type_ != nullptr; }
  void* buffer() const noexcept { return packed_.data(); }
  MPI_Datatype datatype() const noexcept { return twin_; }

  /// Packs or unpacks `count` elements, which begin `user_offset` extents into the user's buffer and `packed_offset`
  /// elements into the packed one.
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

// One side of MPI_Alltoallw, packed. Each rank's part has a datatype of its own.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "penstock/interpose/bounce.hpp"
#include "penstock/interpose/type.hpp"

namespace penstock::interpose {

/// The arguments of one side, as MPI takes them; displacements are in bytes.
struct WSide {
  void* buffer;
  const int* counts;
  const int* displacements;
  const MPI_Datatype* datatypes;

  bool has_arguments() const noexcept { return counts != nullptr && displacements != nullptr && datatypes != nullptr; }
  /// Where the part of `rank` begins, in a buffer that may be MPI_BOTTOM.
  std::byte* at(int rank) const noexcept { return static_cast<std::byte*>(buffer) + displacements[rank]; }
};

inline int call_mpi(const WSide& from, const WSide& to, MPI_Comm comm) noexcept {
  return PMPI_Alltoallw(from.buffer, from.counts, from.displacements, from.datatypes, to.buffer, to.counts,
                        to.displacements, to.datatypes, comm);
}

/// A packed side. Either every part is packed or none, as MPI takes one buffer for all parts.
class PackedW {
 public:
  PackedW() = default;
  static PackedW to_send(const WSide& users, int ranks) noexcept { return make(users, ranks, Need::pack); }
  static PackedW to_receive(const WSide& users, int ranks, bool is_in_place) noexcept {
    return make(users, ranks, is_in_place ? Need::both : Need::unpack);
  }

  bool is_served() const noexcept { return !parts_.empty(); }
  WSide side() const noexcept;

  void pack(const void* user) noexcept;
  void unpack(void* user) noexcept;

 private:
  enum class Need : unsigned char { pack, unpack, both };
  struct PackedPart {
    Type* type;  // nullptr for bytes that are contiguous in the user's buffer, too
    std::int64_t user_offset;
    std::int64_t packed_offset;
    std::int64_t count;
    std::int64_t bytes;
  };

  static PackedW make(const WSide& users, int ranks, Need need) noexcept;
  bool add_part(const WSide& users, std::size_t rank, Need need, std::int64_t& total) noexcept;

  std::vector<PackedPart> parts_;
  std::vector<int> counts_;
  std::vector<int> displacements_;
  std::vector<MPI_Datatype> datatypes_;
  Bounce packed_;
};

}  // namespace penstock::interpose

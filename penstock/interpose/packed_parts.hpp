// One side of the calls that have a count and a displacement for each rank (the v of gatherv), packed.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "penstock/interpose/packed_side.hpp"

namespace penstock::interpose {

/// A packed side of `ranks` parts, which follow one another in the packed buffer.
class PackedParts {
 public:
  PackedParts() = default;
  static PackedParts to_send(Worth& is_worth, const void* user, int ranks, const int* counts, const int* displacements,
                             MPI_Datatype datatype) noexcept;
  static PackedParts to_receive(Worth& is_worth, const void* user, int ranks, const int* counts,
                                const int* displacements, MPI_Datatype datatype) noexcept;

  bool is_served() const noexcept { return side_.is_served(); }
  template <class Pointer>
  Pointer buffer_or(Pointer users) const noexcept {
    return side_.buffer_or(users);
  }
  MPI_Datatype datatype_or(MPI_Datatype users) const noexcept { return side_.datatype_or(users); }
  /// The displacement of each part in the packed buffer, in elements.
  const int* displacements_or(const int* users) const noexcept { return is_served() ? packed_at_.data() : users; }

  void pack(const void* user, int rank) noexcept;
  void pack(const void* user) noexcept;
  void unpack(void* user) noexcept;

 private:
  using MakeSide = PackedSide(Worth&, const void*, std::int64_t, int, MPI_Datatype);
  static PackedParts make(MakeSide& make_side, Worth& is_worth, const void* user, int ranks, const int* counts,
                          const int* displacements, MPI_Datatype datatype) noexcept;

  PackedSide side_;
  std::span<const int> counts_;         // the user's
  std::span<const int> displacements_;  // the user's
  std::vector<int> packed_at_;
};

}  // namespace penstock::interpose

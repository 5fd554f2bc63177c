// One side of MPI_Alltoallw, packed. Each partner's part has a datatype of its own.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "penstock/interpose/bounce.hpp"
#include "penstock/interpose/library.hpp"
#include "penstock/interpose/type.hpp"

namespace penstock::interpose {

/// The arguments of one side, as MPI takes them. Displacements are in bytes: int, or MPI_Aint among neighbours.
template <class Displacement>
struct WSide {
  void* buffer;
  const int* counts;
  const Displacement* displacements;
  const MPI_Datatype* datatypes;

  bool has_arguments() const noexcept { return counts != nullptr && displacements != nullptr && datatypes != nullptr; }
  /// Where the part of `partner` begins, in a buffer that may be MPI_BOTTOM.
  std::byte* at(int partner) const noexcept { return static_cast<std::byte*>(buffer) + displacements[partner]; }
};

/// A side that is only read through.
template <class Displacement>
WSide<Displacement> side_to_send(const void* buffer, const int* counts, const Displacement* displacements,
                                 const MPI_Datatype* datatypes) noexcept {
  return {const_cast<void*>(buffer), counts, displacements, datatypes};
}

/// A packed side. Either every part is packed or none, as MPI takes one buffer for all parts.
template <class Displacement>
class PackedW {
 public:
  using Side = WSide<Displacement>;

  PackedW() = default;
  static PackedW to_send(Worth& is_worth, const Side& users, int partners) noexcept {
    return make(is_worth, users, partners, Need::pack);
  }
  /// `holds_parts`: some parts are packed as well.
  static PackedW to_receive(Worth& is_worth, const Side& users, int partners, bool holds_parts) noexcept {
    return make(is_worth, users, partners, holds_parts ? Need::both : Need::unpack);
  }

  bool is_served() const noexcept { return !parts_.empty(); }
  Side side_or(const Side& users) const noexcept {
    return is_served() ? Side{packed_.data(), counts_.data(), displacements_.data(), datatypes_.data()} : users;
  }

  void pack(const void* user) noexcept;
  void pack(const void* user, int partner) noexcept;
  void unpack(void* user) noexcept;

 private:
  enum class Need : unsigned char { pack, unpack, both };
  struct PackedPart {
    std::shared_ptr<Type> type;  // none for bytes that are contiguous in the user's buffer, too
    std::int64_t user_offset;
    std::int64_t packed_offset;
    std::int64_t count;
    std::int64_t bytes;
  };

  static PackedW make(Worth& is_worth, const Side& users, int partners, Need need) noexcept;
  bool add_part(const Side& users, std::size_t partner, Need need, std::int64_t& total);
  void pack(const void* user, const PackedPart& part) noexcept;

  std::vector<PackedPart> parts_;
  std::vector<int> counts_;
  std::vector<Displacement> displacements_;
  std::vector<MPI_Datatype> datatypes_;
  Bounce packed_;
};

}  // namespace penstock::interpose

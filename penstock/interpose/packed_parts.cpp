#include "penstock/interpose/packed_parts.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <new>

namespace penstock::interpose {

PackedParts PackedParts::make(MakeSide& make_side, Worth& is_worth, const void* user, int ranks, const int* counts,
                              const int* displacements, MPI_Datatype datatype) noexcept {
  PackedParts parts;
  if (counts == nullptr || displacements == nullptr) {
    return parts;
  }
  parts.counts_ = {counts, static_cast<std::size_t>(ranks)};
  parts.displacements_ = {displacements, static_cast<std::size_t>(ranks)};
  try {
    parts.packed_at_.reserve(parts.counts_.size());
    std::int64_t elements = 0;
    for (const int count : parts.counts_) {
      if (count < 0 || elements > std::numeric_limits<int>::max()) {
        return parts;  // for MPI to complain of, or more than displacements can say
      }
      parts.packed_at_.push_back(static_cast<int>(elements));
      elements += count;
    }
    if (elements > 0) {
      const int largest = *std::ranges::max_element(parts.counts_);
      parts.side_ = make_side(is_worth, user, elements, largest, datatype);
    }
  } catch (const std::bad_alloc&) {
    return parts;
  }
  return parts;
}

PackedParts PackedParts::to_send(Worth& is_worth, const void* user, int ranks, const int* counts,
                                 const int* displacements, MPI_Datatype datatype) noexcept {
  return make(PackedSide::to_send, is_worth, user, ranks, counts, displacements, datatype);
}

PackedParts PackedParts::to_receive(Worth& is_worth, const void* user, int ranks, const int* counts,
                                    const int* displacements, MPI_Datatype datatype) noexcept {
  return make(PackedSide::to_receive, is_worth, user, ranks, counts, displacements, datatype);
}

void PackedParts::pack(const void* user, int rank) noexcept {
  const auto i = static_cast<std::size_t>(rank);
  side_.pack(user, displacements_[i], packed_at_[i], counts_[i]);
}

void PackedParts::pack(const void* user) noexcept {
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    side_.pack(user, displacements_[i], packed_at_[i], counts_[i]);
  }
}

void PackedParts::unpack(void* user) noexcept {
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    side_.unpack(user, displacements_[i], packed_at_[i], counts_[i]);
  }
}

}  // namespace penstock::interpose

// Block-cyclic distributions: which rank owns which element of an array, and at which position. Knows no memory.
// Included by global_array.hpp.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#pragma GCC visibility push(default)

namespace penstock::gas {

/// One dimension of `extent` elements, dealt out in blocks of `block` elements to `owners` owners in turn, as ScaLAPACK
/// does. A block of extent / owners, rounded up, is a block distribution; a block of 1 is a cyclic one; a block of the
/// whole extent gives all elements to owner 0. An owner keeps its elements in the order of their indices, from position
/// 0 on.
class BlockCyclic {
 public:
  /// extent >= 0, block >= 1, owners >= 1, and the product of the three is below 2^62.
  BlockCyclic(std::int64_t extent, std::int64_t block, int owners)
      : extent_(extent), block_(block), owners_(owners), whole_(extent / cycle() * block), rest_(extent % cycle()) {}

  std::int64_t extent() const noexcept { return extent_; }
  std::int64_t block() const noexcept { return block_; }
  int owners() const noexcept { return owners_; }
  /// The distance between two successive blocks of one owner.
  std::int64_t cycle() const noexcept { return block_ * owners_; }

  /// The owner of an element, and the element's position among those of the owner.
  struct Position {
    int owner;
    std::int64_t position;
  };
  Position place(std::int64_t index) const noexcept {
    const std::int64_t number = index / block_;  // of the block
    const std::int64_t turn = number / owners_;
    return {static_cast<int>(number - turn * owners_), turn * block_ + (index - number * block_)};
  }
  /// The element that `owner` keeps at `position`.
  std::int64_t index(int owner, std::int64_t position) const noexcept {
    return position / block_ * cycle() + owner * block_ + position % block_;
  }

  /// How many elements `owner` has.
  std::int64_t count(int owner) const noexcept { return whole_ + in_last_cycle(owner, rest_); }
  /// How many elements of `owner` lie before `index`, which may be the extent.
  std::int64_t count_below(int owner, std::int64_t index) const noexcept {
    return index / cycle() * block_ + in_last_cycle(owner, index % cycle());
  }

 private:
  std::int64_t in_last_cycle(int owner, std::int64_t elements) const noexcept {
    return std::clamp<std::int64_t>(elements - owner * block_, 0, block_);
  }

  std::int64_t extent_;
  std::int64_t block_;
  int owners_;
  std::int64_t whole_;  // of each owner's elements, those in whole cycles
  std::int64_t rest_;   // elements behind the last whole cycle
};

/// An array dealt out to a grid of ranks, each dimension by itself. Rank r of the grid has the coordinates of r in C
/// order (the last coordinate changes fastest); ranks beyond the grid own nothing. A rank keeps its elements as a dense
/// box in C order.
class Distribution {
 public:
  /// Each list has one entry for each dimension. A block of 0 stands for a block distribution. The dimensions with 0 in
  /// `grid` share the ranks that the others leave, so that a rank's box is near to a cube. Throws Error for negative
  /// values, for a grid of more than `ranks` ranks, and where the number of elements times `ranks` is 2^62 or more.
  Distribution(std::span<const std::int64_t> extents, std::span<const std::int64_t> blocks, std::span<const int> grid,
               int ranks);

  std::span<const BlockCyclic> dimensions() const noexcept { return dimensions_; }

  /// The rank that owns an element, and the element's position in the rank's box. Throws Error for an index outside of
  /// the array.
  struct Location {
    int rank;
    std::int64_t element;
  };
  Location place(std::span<const std::int64_t> index) const {
    Location place{0, 0};
    for (std::size_t d = 0; d < index.size(); ++d) {
      const BlockCyclic& dimension = dimensions_[d];
      if (index[d] < 0 || index[d] >= dimension.extent()) {
        refuse(index);
      }
      const auto [owner, position] = dimension.place(index[d]);
      place.rank = place.rank * dimension.owners() + owner;
      place.element = place.element * dimension.count(owner) + position;
    }
    return place;
  }

  /// The coordinates of `rank` in the grid; none for a rank beyond it.
  std::vector<int> coordinates(int rank) const;
  /// The extents of the box that `rank` keeps.
  std::vector<std::int64_t> extents_of(int rank) const;

  /// Throws Error unless the box of `extents` elements at `first` lies in the array.
  void check_box(std::span<const std::int64_t> first, std::span<const std::int64_t> extents) const;

  /// "100 x 80 elements in blocks of 50 x 40 over 2 x 2 ranks"
  std::string describe() const;

 private:
  [[noreturn]] void refuse(std::span<const std::int64_t> index) const;
  std::vector<std::int64_t> extents() const;

  std::vector<BlockCyclic> dimensions_;
};

}  // namespace penstock::gas

#pragma GCC visibility pop

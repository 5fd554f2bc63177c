// Ranges of indices, boxes of grid points, and the grid of ranks that cuts them. Included by shape.hpp.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#pragma GCC visibility push(default)

namespace penstock::shape {

/// A number for each dimension: an index, extents, strides.
template <std::size_t dimensions>
using Index = std::array<std::int64_t, dimensions>;

/// The extents of a field by direction: 0 is x, 1 is y, 2 is z.
using Extents = Index<3>;

/// `extent` indices from `lower` on.
struct Range {
  std::int64_t lower = 0;
  std::int64_t extent = 0;
  std::int64_t end() const noexcept { return lower + extent; }
  bool operator==(const Range&) const = default;
};

/// The indices that lie in both ranges; none if the result's `extent` is 0.
Range intersect(const Range& a, const Range& b) noexcept;

/// Part `index` of `parts` nearly equal parts of [0, n): extents differ by at most one, the longer parts first.
Range part_of(std::int64_t n, int parts, int index) noexcept;

/// `extent` points from `lower` on in each dimension.
template <std::size_t dimensions>
struct BoxOf {
  Index<dimensions> lower{};
  Index<dimensions> extent{};

  /// The number of points.
  std::int64_t count() const noexcept {
    std::int64_t count = 1;
    for (const std::int64_t n : extent) {
      count *= n;
    }
    return count;
  }
  bool operator==(const BoxOf&) const = default;
};

/// A box of grid points, in x, y and z.
using Box = BoxOf<3>;

/// The points that lie in both boxes; none if the result's `count()` is 0.
template <std::size_t dimensions>
BoxOf<dimensions> intersect(const BoxOf<dimensions>& a, const BoxOf<dimensions>& b) noexcept {
  BoxOf<dimensions> common;
  for (std::size_t d = 0; d < dimensions; ++d) {
    const Range range = intersect(Range{a.lower[d], a.extent[d]}, Range{b.lower[d], b.extent[d]});
    common.lower[d] = range.lower;
    common.extent[d] = range.extent;
  }
  return common;
}

/// How many parts each dimension of an array of these extents is cut into for `ranks` ranks, so that a rank's part is
/// near to a cube: each prime factor of the ranks, the greatest first, goes to the dimension in which a part is
/// longest.
std::vector<int> even_grid(std::span<const std::int64_t> extents, int ranks);

/// A grid of ty x tz ranks: rank r has row r % ty and plane group r / ty. Pencils along x cut y by rows, z by groups.
struct Grid {
  int ty = 0;
  int tz = 0;
  bool operator==(const Grid&) const = default;
};

}  // namespace penstock::shape

#pragma GCC visibility pop

#include "penstock/shape/box.hpp"

#include <algorithm>
#include <numeric>

#include "penstock/base/numbers.hpp"

namespace penstock::shape {

Range intersect(const Range& a, const Range& b) noexcept {
  const std::int64_t lower = std::max(a.lower, b.lower);
  return {.lower = lower, .extent = std::max<std::int64_t>(std::min(a.end(), b.end()) - lower, 0)};
}

Range part_of(std::int64_t n, int parts, int index) noexcept {
  const std::int64_t length = n / parts;
  const std::int64_t longer = n % parts;  // so many parts at the front have one more
  return {.lower = index * length + std::min<std::int64_t>(index, longer), .extent = length + (index < longer ? 1 : 0)};
}

std::vector<int> even_grid(std::span<const std::int64_t> extents, int ranks) {
  std::vector<int> grid(extents.size(), 1);
  if (grid.empty()) {
    return grid;
  }
  std::vector<int> factors;
  for (int factor = 2; ranks > 1; ++factor) {
    for (; ranks % factor == 0; ranks /= factor) {
      factors.push_back(factor);
    }
  }
  std::vector<std::size_t> dimensions(grid.size());
  std::iota(dimensions.begin(), dimensions.end(), std::size_t{0});
  for (auto factor = factors.rbegin(); factor != factors.rend(); ++factor) {
    grid[*std::ranges::max_element(dimensions, {}, [&](std::size_t d) { return divide_up(extents[d], grid[d]); })] *=
        *factor;
  }
  return grid;
}

}  // namespace penstock::shape

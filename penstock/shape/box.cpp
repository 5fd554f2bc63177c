#include "penstock/shape/box.hpp"

#include <algorithm>

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

}  // namespace penstock::shape

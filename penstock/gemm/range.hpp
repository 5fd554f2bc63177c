// Ranges of indices, and how they are cut.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace penstock::gemm {

/// A range of indices.
struct Range {
  std::int64_t first = 0;
  std::int64_t count = 0;
  std::int64_t end() const noexcept { return first + count; }
  bool operator==(const Range&) const = default;
};

/// What is in both.
inline Range common(const Range& one, const Range& other) {
  const std::int64_t first = std::max(one.first, other.first);
  return {first, std::max<std::int64_t>(std::min(one.end(), other.end()) - first, 0)};
}

/// The pieces of a range that begin at multiples of `block` and are no longer than `most`.
inline std::vector<Range> cut(const Range& range, std::int64_t block, std::int64_t most) {
  std::vector<Range> pieces;
  for (std::int64_t at = range.first; at < range.end();) {
    const std::int64_t end = std::min({range.end(), (at / block + 1) * block, at + most});
    pieces.push_back({at, end - at});
    at = end;
  }
  return pieces;
}

/// What of `range` lies in block `number` of `block` indices.
inline Range block_of(const Range& range, std::int64_t block, std::int64_t number) {
  const std::int64_t first = std::min(range.first + number * block, range.end());
  return {first, std::min(block, range.end() - first)};
}

}  // namespace penstock::gemm

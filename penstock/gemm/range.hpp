// How ranges of indices are cut.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "penstock/shape/shape.hpp"

namespace penstock::gemm {

using shape::Range;

/// The pieces of a range that begin at multiples of `block` and are no longer than `most`.
inline std::vector<Range> cut(const Range& range, std::int64_t block, std::int64_t most) {
  std::vector<Range> pieces;
  for (std::int64_t at = range.lower; at < range.end();) {
    const std::int64_t end = std::min({range.end(), (at / block + 1) * block, at + most});
    pieces.push_back({at, end - at});
    at = end;
  }
  return pieces;
}

/// What of `range` lies in block `number` of `block` indices.
inline Range block_of(const Range& range, std::int64_t block, std::int64_t number) {
  const std::int64_t first = std::min(range.lower + number * block, range.end());
  return {first, std::min(block, range.end() - first)};
}

}  // namespace penstock::gemm

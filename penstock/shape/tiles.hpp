// How transforms cut their data into tiles that stay in cache. Included by shape.hpp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>

#include "penstock/base/numbers.hpp"

#pragma GCC visibility push(default)

namespace penstock::shape {

/// The width of a tile where the caches allow it. Chunks of 512 bytes move at memory speed (measured 2026-11 on Zen 4:
/// 32 double complex numbers move as fast as 64, and faster than 16).
inline constexpr std::int64_t tile_chunk_bytes = 512;

/// The elements of `element_bytes` in a chunk: the most that are whole cache lines together, and one such group at
/// least.
constexpr std::int64_t tile_chunk(std::int64_t element_bytes) noexcept {
  const std::int64_t together = 64 / std::gcd(std::int64_t{64}, element_bytes);
  return std::max<std::int64_t>(tile_chunk_bytes / element_bytes / together, 1) * together;
}

/// The pitch of a tile's rows: `row_bytes` in whole cache lines and one line more, so that rows whose length is a power
/// of two do not share cache sets.
constexpr std::int64_t tile_pitch(std::int64_t row_bytes) noexcept {
  return round_up(row_bytes, 64) + 64;
}

/// The number of rows of a tile of elements of `element_bytes`. `pair_bytes` is the sum of a row's pitches before and
/// after its transform. A tile has as many rows as a chunk has elements, and fewer only where that many pairs exceed
/// twice the second-level cache: narrower chunks cost more than fetching rows from the next cache (measured 2026-11 on
/// Zen 3). The rows are whole cache lines together, as no vector is longer.
constexpr std::int64_t tile_rows(std::int64_t pair_bytes, std::int64_t cache_l2_bytes,
                                 std::int64_t element_bytes) noexcept {
  const std::int64_t together = 64 / std::gcd(std::int64_t{64}, element_bytes);
  return std::clamp(2 * cache_l2_bytes / pair_bytes / together * together, together, tile_chunk(element_bytes));
}

}  // namespace penstock::shape

#pragma GCC visibility pop

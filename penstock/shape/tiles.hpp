// How transforms cut their data into tiles that stay in cache. Included by shape.hpp.
#pragma once

#include <algorithm>
#include <cstdint>

#include "penstock/base/numbers.hpp"

namespace penstock::shape {

/// The width of tiles where caches allow it: chunks of 512 bytes are moved at memory speed (measured 2026-11 on Zen 4:
/// 32 double complex as fast as 64, and faster than 16).
inline constexpr std::int64_t tile_chunk_bytes = 512;

/// The pitch of a tile's rows: whole cache lines, and one more, so that rows of a power of two do not share cache sets.
constexpr std::int64_t tile_pitch(std::int64_t row_bytes) noexcept {
  return round_up(row_bytes, 64) + 64;
}

/// The rows of a tile of elements of `element_bytes`. `pair_bytes` is the pitch of a row before its transform and that
/// of one after it, together. A tile has a chunk's worth of rows, and fewer only where their pairs would not fit into
/// twice the second-level cache: narrower chunks cost more than rows that are fetched from the cache behind it
/// (measured 2026-11 on Zen 3). The number is in eighths of a chunk, as no vector is longer than one.
constexpr std::int64_t tile_rows(std::int64_t pair_bytes, std::int64_t cache_l2_bytes,
                                 std::int64_t element_bytes) noexcept {
  const std::int64_t chunk = tile_chunk_bytes / element_bytes;
  return std::clamp<std::int64_t>(2 * cache_l2_bytes / pair_bytes / (chunk / 8) * (chunk / 8), chunk / 8, chunk);
}

}  // namespace penstock::shape

// How transforms cut their data into tiles that stay in cache: what plans, their model and calibration have to agree
// on. Included by model.hpp.
#pragma once

#include <algorithm>
#include <cstdint>

namespace penstock::model {

/// The width of tiles where caches allow it: chunks of 512 bytes are moved at memory speed (measured 2026-11 on Zen 4:
/// 32 double complex as fast as 64, and faster than 16).
inline constexpr std::int64_t tile_chunk_bytes = 512;

/// Bytes from row to row of a tile: whole cache lines, and one more, so that rows of a power of two do not share cache
/// sets.
constexpr std::int64_t tile_pitch(std::int64_t row_bytes) noexcept {
  return (row_bytes + 63) / 64 * 64 + 64;
}

/// The rows of a tile of elements of `element_bytes`: a chunk's worth, fewer only where a row before its transform and
/// one after it (`pair_bytes`, with their pitches), so many times, would not fit into twice the second-level cache:
/// narrower chunks cost more than rows that are fetched from the cache behind it (measured 2026-11 on Zen 3). In
/// eighths of a chunk, which no vector is longer than.
constexpr std::int64_t tile_rows(std::int64_t pair_bytes, std::int64_t cache_l2_bytes,
                                 std::int64_t element_bytes) noexcept {
  const std::int64_t chunk = tile_chunk_bytes / element_bytes;
  return std::clamp<std::int64_t>(2 * cache_l2_bytes / pair_bytes / (chunk / 8) * (chunk / 8), chunk / 8, chunk);
}

/// Into so many parts what a rank receives in an exchange may be cut, along the direction in which it walks it.
inline constexpr std::int64_t exchange_parts = 8;

}  // namespace penstock::model

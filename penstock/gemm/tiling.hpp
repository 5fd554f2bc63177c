// How a product is cut so that it fits into a memory: tiles of C that stay, panels of A and B that pass.
#pragma once

#include <cstdint>
#include <vector>

namespace penstock::gemm {

/// A product of m x k and k x n elements.
struct Product {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  std::int64_t element_bytes = 8;
  bool operator==(const Product&) const = default;
};

/// C is made tile by tile. A tile stays in memory, in strips of rows, while panels pass: of B, `depth` x `tile_n`, and
/// of A, block by block of `strip` x `depth`, one for each strip. Strips are multiplied by different threads.
struct Tiling {
  std::int64_t tile_m = 1;
  std::int64_t tile_n = 1;
  std::int64_t strip = 1;
  std::int64_t depth = 1;
  bool operator==(const Tiling&) const = default;
};

/// What the choice is made for.
struct TilingFigures {
  int threads = 1;
  double rate_flops = 0;           ///< of all threads
  double storage_bytes_per_s = 0;  ///< read and written
  double copy_bytes_per_s = 0;     ///< what all threads could move in the time that transfers cost them
};

/// Two panels of B: one is filled while one is used.
inline constexpr std::int64_t panels_of_b = 2;
/// Blocks of A: one in use by each thread, one that arrives, and one that was kept in the scratch file.
inline std::int64_t blocks_of_a(int threads) noexcept {
  return threads + 2;
}

std::int64_t ceiling(std::int64_t value, std::int64_t unit) noexcept;

/// The memory that a tiling takes.
std::int64_t tiling_bytes(const Product& product, const Tiling& tiling, int threads) noexcept;

/// What is read and written in all: A for each column of tiles, B for each row of them, C once.
double tiling_traffic_bytes(const Product& product, const Tiling& tiling) noexcept;

/// The tiling of the shortest expected time that fits into `memory_bytes`. Throws Error where none does, with the least
/// that would; `reserved_bytes` are what the process takes besides, for that message.
Tiling choose_tiling(const Product& product, const TilingFigures& figures, std::int64_t memory_bytes,
                     std::int64_t reserved_bytes);

}  // namespace penstock::gemm

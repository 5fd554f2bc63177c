// How a product is cut so that it fits into a memory: tiles of C that stay, panels of A and B that pass. What gemm does
// out of core, and what its model is asked about. Included by model.hpp.
#pragma once

#include <cstdint>
#include <vector>

namespace penstock::model {

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
struct TilingRates {
  int threads = 1;
  double rate_flops = 0;           ///< of all threads
  double storage_bytes_per_s = 0;  ///< read and written
  double copy_bytes_per_s = 0;     ///< what all threads could move in the time that transfers cost them
};

/// The figures that products in files are cut by. Not those of the machine at hand: with these, which are never twice
/// the same where they are measured, the tiling and so the roundings would change from run to run. Two cores of a Zen 4
/// server, 2026-11.
TilingRates usual_tiling_rates(int threads) noexcept;

/// What OpenBLAS needs for blocks of A of `strip` x `depth`, of the time of large ones: C is read and written once per
/// `depth`, a panel of B rearranged once per `strip`. Fitted to 0.3.21 on two cores of a Zen 5 server (2026-11): 0.93
/// of the best rate at 256 x 512, 0.97 at 512 x 512.
double thin_block_factor(double strip, double depth) noexcept;

/// Two panels of B: one is filled while one is used.
inline constexpr std::int64_t panels_of_b = 2;
/// Blocks of A: one in use by each thread, one that arrives, and one that was kept in the scratch file.
inline std::int64_t blocks_of_a(int threads) noexcept {
  return threads + 2;
}

/// The memory that a tiling takes.
std::int64_t tiling_bytes(const Product& product, const Tiling& tiling, int threads) noexcept;

/// What is read and written in all: A for each column of tiles, B for each row of them, C once.
double tiling_traffic_bytes(const Product& product, const Tiling& tiling) noexcept;

/// The tiling of the shortest expected time that fits into `memory_bytes`. Throws Error where none does, with the least
/// that would; `reserved_bytes` are what the process takes besides, for that message.
Tiling choose_tiling(const Product& product, const TilingRates& figures, std::int64_t memory_bytes,
                     std::int64_t reserved_bytes);

}  // namespace penstock::model

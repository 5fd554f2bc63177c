// How a matrix product is cut so that it fits into memory: tiles of C stay there while panels of A and B pass. Module
// gemm multiplies so out of core, and gemm.hpp predicts the time. Included by model.hpp.
#pragma once

#include <cstdint>
#include <vector>

#pragma GCC visibility push(default)

namespace penstock::model {

/// A product of an m x k and a k x n matrix.
struct Product {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  std::int64_t element_bytes = 8;
  bool operator==(const Product&) const = default;
};

/// C is computed in tiles of `tile_m` x `tile_n`. A tile stays in memory, cut into strips of `strip` rows. Panels of B,
/// of `depth` x `tile_n`, pass through memory, and with each of them one block of A, of `strip` x `depth`, for each
/// strip. Different threads multiply different strips.
struct Tiling {
  std::int64_t tile_m = 1;
  std::int64_t tile_n = 1;
  std::int64_t strip = 1;
  std::int64_t depth = 1;
  bool operator==(const Tiling&) const = default;
};

/// The rates for which a tiling is chosen.
struct TilingRates {
  int threads = 1;
  double rate_flops = 0;           ///< of all threads
  double storage_bytes_per_s = 0;  ///< of reading and of writing
  double copy_bytes_per_s = 0;     ///< transfers cost the threads their bytes divided by this rate
};

/// The rates by which products in files are cut, on any machine; measured on two cores of a Zen 4 server, 2026-11.
/// Rates of the machine at hand are not used: two measurements never agree, so that the tiling, and with it the
/// rounding errors, would change from run to run.
TilingRates usual_tiling_rates(int threads) noexcept;

/// The time of a multiply by OpenBLAS in blocks of A of `strip` x `depth`, over its time in large blocks: C is read and
/// written once per `depth`, and a panel of B is packed once per `strip`. Fitted to OpenBLAS 0.3.21 on two cores of a
/// Zen 5 server (2026-11): 0.93 of the best rate at 256 x 512, 0.97 at 512 x 512.
double thin_block_factor(double strip, double depth) noexcept;

/// The panels of B in memory: one is filled while one is used.
inline constexpr std::int64_t panels_of_b = 2;
/// The blocks of A in memory: one in use by each thread, one that arrives, one that is written to the scratch file.
inline std::int64_t blocks_of_a(int threads) noexcept {
  return threads + 2;
}

/// The bytes of memory that a tiling takes.
std::int64_t tiling_bytes(const Product& product, const Tiling& tiling, int threads) noexcept;

/// The bytes read and written in all: A once per column of tiles, B once per row of tiles, C once.
double tiling_traffic_bytes(const Product& product, const Tiling& tiling) noexcept;

/// The tiling with the shortest expected time among those that fit into `memory_bytes`. Throws Error where none fits.
/// The Error names the memory that would do, with `reserved_bytes`, which the process takes besides.
Tiling choose_tiling(const Product& product, const TilingRates& figures, std::int64_t memory_bytes,
                     std::int64_t reserved_bytes);

}  // namespace penstock::model

#pragma GCC visibility pop

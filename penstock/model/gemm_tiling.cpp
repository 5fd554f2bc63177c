// The search for a tiling: a few depths and heights of strips, all numbers of columns of tiles, and of each the
// tallest tile that fits.
#include "penstock/model/gemm_tiling.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

#include "penstock/base/error.hpp"
#include "penstock/base/numbers.hpp"
#include "penstock/base/units.hpp"

namespace penstock::model {
namespace {

/// Slots begin at pages, and what passes through a scratch file fills whole ones.
std::int64_t slot_bytes(std::int64_t elements, std::int64_t element_bytes) noexcept {
  return round_up(elements * element_bytes, 4096);
}

/// Seconds, as far as they depend on the tiling.
double expected_s(const Product& product, const Tiling& tiling, const TilingRates& figures) {
  const double flops =
      2.0 * static_cast<double>(product.m) * static_cast<double>(product.n) * static_cast<double>(product.k);
  const double traffic = tiling_traffic_bytes(product, tiling);
  const double multiply_s =
      flops / figures.rate_flops *
          thin_block_factor(static_cast<double>(tiling.strip), static_cast<double>(tiling.depth)) +
      traffic / figures.copy_bytes_per_s;
  // A disk is rarely as fast as when it was measured: half of that rate is assumed.
  return std::max(multiply_s, 2 * traffic / figures.storage_bytes_per_s);
}

/// The tallest tile that fits beside the panels, of tiles as even as can be.
std::optional<Tiling> tallest(const Product& product, Tiling tiling, int threads, std::int64_t memory_bytes) {
  tiling.tile_m = 0;
  const std::int64_t left = memory_bytes - tiling_bytes(product, tiling, threads);
  const std::int64_t strips = left / slot_bytes(tiling.strip * tiling.tile_n, product.element_bytes);
  if (left <= 0 || strips < 1) {
    return std::nullopt;
  }
  const std::int64_t rows = std::max<std::int64_t>(product.m, 1);
  const std::int64_t tallest_m = std::min(strips * tiling.strip, round_up(rows, tiling.strip));
  const std::int64_t tiles = divide_up(rows, tallest_m);
  tiling.tile_m = round_up(divide_up(rows, tiles), tiling.strip);
  return tiling;
}

}  // namespace

TilingRates usual_tiling_rates(int threads) noexcept {
  return {
      .threads = threads, .rate_flops = 54e9 * threads, .storage_bytes_per_s = 1e9, .copy_bytes_per_s = 2e9 * threads};
}

double thin_block_factor(double strip, double depth) noexcept {
  return 1 + 8 / depth + 10 / strip;
}

std::int64_t tiling_bytes(const Product& product, const Tiling& tiling, int threads) noexcept {
  return divide_up(tiling.tile_m, tiling.strip) * slot_bytes(tiling.strip * tiling.tile_n, product.element_bytes) +
         panels_of_b * slot_bytes(tiling.depth * tiling.tile_n, product.element_bytes) +
         blocks_of_a(threads) * slot_bytes(tiling.strip * tiling.depth, product.element_bytes);
}

double tiling_traffic_bytes(const Product& product, const Tiling& tiling) noexcept {
  const auto m = static_cast<double>(product.m);
  const auto n = static_cast<double>(product.n);
  const auto k = static_cast<double>(product.k);
  const auto columns = static_cast<double>(divide_up(product.n, tiling.tile_n));
  const auto rows = static_cast<double>(divide_up(product.m, tiling.tile_m));
  return (m * k * columns + k * n * rows + m * n) * static_cast<double>(product.element_bytes);
}

Tiling choose_tiling(const Product& product, const TilingRates& figures, std::int64_t memory_bytes,
                     std::int64_t reserved_bytes) {
  std::optional<Tiling> best;
  double best_s = 0;
  std::int64_t min_bytes = std::numeric_limits<std::int64_t>::max();
  const std::int64_t n = std::max<std::int64_t>(product.n, 1);
  const std::int64_t share_of_m = std::max<std::int64_t>(divide_up(product.m, figures.threads), 1);
  constexpr std::array<std::int64_t, 7> sizes = {1024, 768, 512, 384, 256, 128, 64};
  for (const std::int64_t depth : sizes) {
    for (const std::int64_t strip : sizes) {
      const Tiling shape{.tile_m = 1,
                         .tile_n = 1,
                         .strip = std::min(strip, share_of_m),
                         .depth = std::min(depth, std::max<std::int64_t>(product.k, 1))};
      // Tiles narrower than 64 columns would only be for memories that no machine has left.
      // Many columns are tried in steps: a row of 10^12 elements would take hours else.
      for (std::int64_t columns = 1; columns <= divide_up(n, 64); columns += 1 + columns / 64) {
        Tiling tiling = shape;
        tiling.tile_n = divide_up(n, columns);
        tiling.tile_m = tiling.strip;
        min_bytes = std::min(min_bytes, tiling_bytes(product, tiling, figures.threads));
        const std::optional<Tiling> fitting = tallest(product, tiling, figures.threads, memory_bytes);
        if (!fitting) {
          continue;
        }
        const double time_s = expected_s(product, *fitting, figures);
        if (!best || time_s < best_s) {
          best = fitting;
          best_s = time_s;
        }
      }
    }
  }
  if (!best) {
    throw Error(
        fmt::format("a memory of {} is too small: the process takes {} besides its blocks; give at least {}",
                    format_bytes(static_cast<std::uint64_t>(memory_bytes + reserved_bytes)),
                    format_bytes(static_cast<std::uint64_t>(reserved_bytes)),
                    format_bytes(static_cast<std::uint64_t>(min_bytes + reserved_bytes + (std::int64_t{1} << 20)))));
  }
  return *best;
}

}  // namespace penstock::model

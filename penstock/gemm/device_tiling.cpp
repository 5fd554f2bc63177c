#include "penstock/gemm/device_tiling.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "penstock/base/base.hpp"

namespace penstock::gemm {
namespace {

/// Of the device's interface, whose BLAS counts in 32 bits.
constexpr std::int64_t max_extent = std::int64_t{1} << 30;

/// The padded elements of each kind of block.
struct BlockElements {
  double a;
  double b;
  double c;
  explicit BlockElements(const DeviceTiling& tiling) noexcept
      : a(static_cast<double>(padded(tiling.tile_m)) * static_cast<double>(padded(tiling.depth))),
        b(static_cast<double>(padded(tiling.depth)) * static_cast<double>(padded(tiling.tile_n))),
        c(static_cast<double>(padded(tiling.tile_m)) * static_cast<double>(padded(tiling.tile_n))) {}
};

double bytes_of(const DeviceProblem& problem, const DeviceTiling& tiling) noexcept {
  const BlockElements elements(tiling);
  const double copied = problem.copies_matrices ? 1 : 0;
  return ((static_cast<double>(tiling.slots_a) + copied) * elements.a +
          (static_cast<double>(tiling.slots_b) + copied) * elements.b +
          (static_cast<double>(tiling.slots_c) + copied) * elements.c) *
         static_cast<double>(problem.real_bytes);
}

/// The part of the compute units' time that multiplies of such tiles use.
double efficiency_of(const DeviceProblem& problem, const DeviceTiling& tiling) noexcept {
  constexpr std::int64_t block = 128;
  const auto blocks =
      static_cast<double>(divide_up(tiling.tile_m, block)) * static_cast<double>(divide_up(tiling.tile_n, block));
  const auto units = static_cast<double>(problem.compute_units);
  const double used = static_cast<double>(tiling.tile_m) * static_cast<double>(tiling.tile_n) / (block * block);
  return used / (std::ceil(blocks / units) * units);
}

/// How often a panel is copied to the device, on the average of `panels` that are used one after the other, `passes`
/// times, to and fro.
double copies_of(std::int64_t passes, std::int64_t panels, std::int64_t slots) noexcept {
  const auto missing = static_cast<double>(std::max<std::int64_t>(panels - slots, 0));
  return 1 + static_cast<double>(passes - 1) * missing / static_cast<double>(panels);
}

/// The tiling with as many slots as it needs: one is filled while another is read.
DeviceTiling with_needed_slots(const DeviceProblem& problem, DeviceTiling tiling) noexcept {
  const DeviceWalk walk(problem, tiling);
  tiling.slots_a = std::min<std::int64_t>(walk.rows() * walk.layers(), 2);
  tiling.slots_b = std::min<std::int64_t>(walk.columns() * walk.layers(), 2);
  tiling.slots_c = std::min<std::int64_t>(walk.tiles(), 2);
  return tiling;
}

/// Gives the memory that is left to slots: first to the panels that the next tile uses again, then to those that the
/// next row of tiles does. Nothing where there is too little memory.
std::optional<DeviceTiling> with_slots(const DeviceProblem& problem, const DeviceTiling& bare) {
  DeviceTiling tiling = with_needed_slots(problem, bare);
  const DeviceWalk walk(problem, tiling);
  const BlockElements elements(tiling);
  const auto most = static_cast<double>(problem.block_bytes) / static_cast<double>(problem.real_bytes);
  double left = static_cast<double>(problem.memory_bytes) - bytes_of(problem, tiling);
  if (left < 0 || std::max({elements.a, elements.b, elements.c}) > most) {
    return std::nullopt;
  }
  const auto give = [&](std::int64_t& slots, std::int64_t panels, double panel_elements) {
    const double panel_bytes = panel_elements * static_cast<double>(problem.real_bytes);
    const double more = std::min(std::floor(left / panel_bytes), static_cast<double>(panels - slots));
    if (more > 0) {
      slots += static_cast<std::int64_t>(more);
      left -= more * panel_bytes;
    }
  };
  if (tiling.goes_by_columns) {
    give(tiling.slots_b, walk.layers(), elements.b);
    give(tiling.slots_a, walk.rows() * walk.layers(), elements.a);
  } else {
    give(tiling.slots_a, walk.layers(), elements.a);
    give(tiling.slots_b, walk.columns() * walk.layers(), elements.b);
  }
  return tiling;
}

/// Lengths of pieces of `extent`: those of one piece, two, three and so on, in steps of an eighth.
std::vector<std::int64_t> lengths_of(std::int64_t extent) {
  std::vector<std::int64_t> lengths;
  for (std::int64_t pieces = 1; pieces <= divide_up(extent, 32); pieces = std::max(pieces + 1, pieces * 9 / 8)) {
    const std::int64_t length = pieces == 1 ? extent : std::min(padded(divide_up(extent, pieces)), extent);
    if (length <= max_extent && (lengths.empty() || length < lengths.back())) {
      lengths.push_back(length);
    }
  }
  if (lengths.back() > 32) {
    lengths.push_back(32);
  }
  return lengths;
}

std::vector<std::int64_t> depths_of(std::int64_t k) {
  std::vector<std::int64_t> depths;
  if (k <= max_extent) {
    depths.push_back(k);
  }
  for (std::int64_t depth = max_extent; depth >= 32; depth /= 2) {
    if (depth < k) {
      depths.push_back(depth);
    }
  }
  return depths;
}

}  // namespace

DeviceWalk::DeviceWalk(const DeviceProblem& problem, const DeviceTiling& tiling) noexcept
    : rows_(divide_up(problem.m, tiling.tile_m)),
      columns_(divide_up(problem.n, tiling.tile_n)),
      layers_(divide_up(problem.k, tiling.depth)),
      goes_by_columns_(tiling.goes_by_columns) {}

DeviceStep DeviceWalk::step(std::int64_t index) const noexcept {
  const std::int64_t tile = index / layers_;
  const std::int64_t number = index % layers_;
  const std::int64_t inner_extent = goes_by_columns_ ? rows_ : columns_;
  const std::int64_t outer = tile / inner_extent;
  const std::int64_t at = tile % inner_extent;
  const std::int64_t inner = outer % 2 == 0 ? at : inner_extent - 1 - at;
  return {.tile = tile,
          .row = goes_by_columns_ ? inner : outer,
          .column = goes_by_columns_ ? outer : inner,
          .layer = tile % 2 == 0 ? number : layers_ - 1 - number,
          .number = number};
}

std::uint64_t device_bytes(const DeviceProblem& problem, const DeviceTiling& tiling) noexcept {
  return static_cast<std::uint64_t>(bytes_of(problem, tiling));
}

DeviceMultiplyPlan forecast(const DeviceProblem& problem, const DeviceTiling& tiling,
                            const DeviceRates& rates) noexcept {
  const DeviceWalk walk(problem, tiling);
  const auto m = static_cast<double>(problem.m);
  const auto n = static_cast<double>(problem.n);
  const auto k = static_cast<double>(problem.k);
  const auto real_bytes = static_cast<double>(problem.real_bytes);
  const std::int64_t all_a = walk.rows() * walk.layers();
  const std::int64_t all_b = walk.columns() * walk.layers();
  const double copies_of_a = tiling.goes_by_columns ? copies_of(walk.columns(), all_a, tiling.slots_a)
                                                    : copies_of(walk.columns(), walk.layers(), tiling.slots_a);
  const double copies_of_b = tiling.goes_by_columns ? copies_of(walk.rows(), walk.layers(), tiling.slots_b)
                                                    : copies_of(walk.rows(), all_b, tiling.slots_b);
  const double in_bytes = (m * k * copies_of_a + k * n * copies_of_b + (problem.reads_c ? m * n : 0)) * real_bytes;
  const double out_bytes = m * n * real_bytes;

  const auto tile_m = static_cast<double>(tiling.tile_m);
  const auto tile_n = static_cast<double>(tiling.tile_n);
  const double first_bytes =
      (static_cast<double>(tiling.depth) * (tile_m + tile_n) + (problem.reads_c ? tile_m * tile_n : 0)) * real_bytes;
  const double first_s = first_bytes / rates.copies.to_device_bytes_per_s;
  const double last_s = tile_m * tile_n * real_bytes / rates.copies.to_host_bytes_per_s;
  const double multiply_s = 2 * m * n * k / rates.flops;
  const double passed_bytes = (m * k * static_cast<double>(walk.columns()) + k * n * static_cast<double>(walk.rows()) +
                               2 * m * n * static_cast<double>(walk.layers())) *
                              real_bytes;
  const double work_s = multiply_s / efficiency_of(problem, tiling) +
                        passed_bytes / rates.copies.memory_bandwidth_bytes_per_s +
                        static_cast<double>(walk.steps()) * rates.call_s;
  const double in_s = in_bytes / rates.copies.to_device_bytes_per_s;
  const double out_s = out_bytes / rates.copies.to_host_bytes_per_s;
  return {.rates = rates,
          .tiling = tiling,
          .tiles = walk.tiles(),
          .memory_bytes = problem.memory_bytes,
          .device_bytes = device_bytes(problem, tiling),
          .to_device_bytes = static_cast<std::uint64_t>(in_bytes),
          .to_host_bytes = static_cast<std::uint64_t>(out_bytes),
          .predicted_s = first_s + std::max({work_s, in_s - first_s, out_s - last_s}) + last_s,
          .bus_s = std::max(in_s, out_s),
          .multiply_s = multiply_s};
}

DeviceMultiplyPlan choose_device_tiling(const DeviceProblem& problem, const DeviceRates& rates) {
  std::optional<DeviceMultiplyPlan> best;
  for (const std::int64_t tile_m : lengths_of(problem.m)) {
    for (const std::int64_t tile_n : lengths_of(problem.n)) {
      for (const std::int64_t depth : depths_of(problem.k)) {
        for (const bool goes_by_columns : {false, true}) {
          const auto tiling = with_slots(
              problem, {.tile_m = tile_m, .tile_n = tile_n, .depth = depth, .goes_by_columns = goes_by_columns});
          if (!tiling) {
            continue;
          }
          const DeviceMultiplyPlan plan = forecast(problem, *tiling, rates);
          // Larger tiles come first: smaller ones have to be worth it.
          if (!best || plan.predicted_s < 0.999 * best->predicted_s) {
            best = plan;
          }
        }
      }
    }
  }
  if (!best) {
    const DeviceTiling smallest{.tile_m = std::min<std::int64_t>(problem.m, 32),
                                .tile_n = std::min<std::int64_t>(problem.n, 32),
                                .depth = std::min<std::int64_t>(problem.k, 32)};
    const double least_bytes = bytes_of(problem, with_needed_slots(problem, smallest));
    throw Error(fmt::format("{} of device memory are too little for tiles of 32 x 32 elements: give at least {}",
                            format_bytes(problem.memory_bytes), format_bytes(static_cast<std::uint64_t>(least_bytes))));
  }
  return *best;
}

}  // namespace penstock::gemm

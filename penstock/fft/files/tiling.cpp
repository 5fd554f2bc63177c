// The choice is a search: bricks grow with slabs and columns both, runs of the output with columns alone, and all of
// them have to share the memory.
#include "penstock/fft/files/tiling.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <limits>

#include "penstock/base/base.hpp"

namespace penstock::fft {
namespace {

constexpr std::int64_t page_bytes = File::scratch_alignment;
// Columns are whole cache lines wide, two of them, so that lines of a tile are neighbours in memory.
constexpr std::int64_t column_step_bytes = 128;

std::int64_t taken(std::int64_t bytes) noexcept {
  return static_cast<std::int64_t>(percolate::Slots::taken_bytes(static_cast<std::size_t>(bytes)));
}

/// Fixed figures, not this machine's: a run that goes on, and one on another day, must find the same tiling. What a
/// disk without moving parts does, and what the system takes for each request (two cores of a Zen 5 server, 2026-11).
double expected_s(const FileCuts& cuts, int threads) noexcept {
  constexpr double storage_bytes_per_s = 1e9;
  constexpr double taken_bytes_per_s = 1e9;  // memory, in huge pages, zeroed
  constexpr double request_s = 2e-5;
  const auto bricks = static_cast<double>(cuts.slabs() * cuts.columns());
  const auto runs = static_cast<double>(cuts.planes() * cuts.columns());
  const auto moved_bytes = static_cast<double>(cuts.space_bytes() + cuts.spectrum_bytes() + 2 * cuts.scratch_bytes());
  // Until the first slab or column is there, and while the last leaves, storage or processors wait.
  const auto edge_bytes = static_cast<double>(cuts.slab_bytes() + cuts.column_bytes());
  const auto slot_bytes = static_cast<double>(slab_pass_bytes(cuts, threads) + column_pass_bytes(cuts, threads));
  return (moved_bytes + edge_bytes) / storage_bytes_per_s + slot_bytes / taken_bytes_per_s +
         (2 * bricks + runs) * request_s;
}

/// From 1 to `most`, each about a sixth more than the one before.
std::int64_t next_length(std::int64_t length) noexcept {
  return length + std::max<std::int64_t>(length / 6, 1);
}

/// Calls `take(cuts)` for each tiling that is worth a look.
template <class Take>
void for_each_tiling(const FileShape& shape, const Take& take) {
  const std::int64_t plane_points = shape.spectrum_row_points() * shape.points[1];
  const std::int64_t all_planes = shape.points[2];
  const std::int64_t step = column_step_bytes / npy::element_bytes(shape.type);
  const std::int64_t max_steps = divide_up(plane_points, step);
  for (std::int64_t length = 1; length < 2 * all_planes; length = next_length(length)) {
    // Slabs of equal height, as far as that goes; columns likewise.
    const std::int64_t planes = divide_up(all_planes, divide_up(all_planes, std::min(length, all_planes)));
    for (std::int64_t steps = 1; steps < 2 * max_steps; steps = next_length(steps)) {
      const std::int64_t columns = divide_up(max_steps, std::min(steps, max_steps));
      const FileTiling tiling{.planes = planes, .points = std::min(divide_up(max_steps, columns) * step, plane_points)};
      take(FileCuts(shape, tiling));
    }
  }
}

}  // namespace

npy::DataType FileShape::space_type() const noexcept {
  const bool is_single = type == npy::DataType::complex64;
  return !is_real ? type : is_single ? npy::DataType::float32 : npy::DataType::float64;
}

FileCuts::FileCuts(const FileShape& shape, const FileTiling& tiling) noexcept : shape_(shape), tiling_(tiling) {
  slabs_ = divide_up(planes(), tiling.planes);
  columns_ = divide_up(plane_points(), tiling.points);
  brick_bytes_ = round_up(tiling.planes * tiling.points * element_bytes(), page_bytes);
}

std::int64_t FileCuts::planes_of(std::int64_t slab) const noexcept {
  return std::min(tiling_.planes, planes() - slab * tiling_.planes);
}

std::int64_t FileCuts::points_of(std::int64_t column) const noexcept {
  return std::min(tiling_.points, plane_points() - column * tiling_.points);
}

std::int64_t slab_pass_bytes(const FileCuts& cuts, int threads) noexcept {
  const SlotCounts counts(threads);
  const std::int64_t beside = cuts.plane_beside_bytes();
  return counts.slabs * (taken(cuts.slab_bytes()) + taken(cuts.slab_bricks_bytes())) +
         (beside == 0 ? 0 : counts.planes_beside * taken(beside));
}

std::int64_t column_pass_bytes(const FileCuts& cuts, int threads) noexcept {
  return SlotCounts(threads).columns * taken(cuts.column_bytes());
}

std::int64_t cuts_bytes(const FileCuts& cuts, int threads) noexcept {
  return std::max(slab_pass_bytes(cuts, threads), column_pass_bytes(cuts, threads));
}

FileTiling choose_file_tiling(const FileShape& shape, int threads, std::int64_t memory_bytes,
                              std::int64_t reserved_bytes) {
  FileTiling best;
  double best_s = std::numeric_limits<double>::infinity();
  for_each_tiling(shape, [&](const FileCuts& cuts) {
    if (cuts_bytes(cuts, threads) <= memory_bytes && expected_s(cuts, threads) < best_s) {
      best = cuts.tiling();
      best_s = expected_s(cuts, threads);
    }
  });
  if (best.planes == 0) {
    std::int64_t min_bytes = std::numeric_limits<std::int64_t>::max();
    for_each_tiling(shape, [&](const FileCuts& cuts) { min_bytes = std::min(min_bytes, cuts_bytes(cuts, threads)); });
    const Extents& size = shape.points;
    throw Error(fmt::format(
        "{} of memory are too small for a transform of {}x{}x{} from files: at least {} are needed with {} threads",
        format_bytes(static_cast<std::uint64_t>(memory_bytes + reserved_bytes)), size[0], size[1], size[2],
        format_bytes(static_cast<std::uint64_t>(min_bytes + reserved_bytes)), threads));
  }
  return best;
}

std::string describe(const FileTiling& tiling) {
  return fmt::format("{} {}", tiling.planes, tiling.points);
}

FileTiling parse_file_tiling(const std::string& text) {
  long long planes = 0;
  long long points = 0;
  if (std::sscanf(text.c_str(), "%lld %lld", &planes, &points) != 2) {
    return {};
  }
  return {.planes = planes, .points = points};
}

}  // namespace penstock::fft

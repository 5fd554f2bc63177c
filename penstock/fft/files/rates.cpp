#include "penstock/fft/files/rates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/fft/files/line_transform.hpp"

namespace penstock::fft {
namespace {

double line_flops(std::int64_t points) noexcept {
  const auto n = static_cast<double>(points);
  return 5 * n * std::log2(n);
}

}  // namespace

PassFlops pass_flops(const FileShape& shape) noexcept {
  const auto x = static_cast<double>(shape.spectrum_row_points());
  const auto y = static_cast<double>(shape.points[1]);
  const auto z = static_cast<double>(shape.points[2]);
  return {
      .slabs = y * z * line_flops(shape.points[0]) * (shape.is_real ? 0.5 : 1) + x * z * line_flops(shape.points[1]),
      .columns = x * y * line_flops(shape.points[2])};
}

double measure_line_rate(const Extents& size, npy::DataType type, int threads, std::int64_t max_bytes) {
  constexpr double measured_s = 0.1;
  const std::int64_t bytes = std::min(std::int64_t{4} << 20, max_bytes / threads);
  const std::int64_t width = npy::element_bytes(type);
  const std::int64_t points = size[2];
  const std::int64_t lines = std::max<std::int64_t>(bytes / (points * width), 1);
  const std::vector<LinePart> parts{{.points = points, .point_stride = lines * width, .line_stride = width}};
  const LineTransform lines_of_z({.type = type, .points = points}, parts, parts, lines);
  ThreadPool pool(threads);
  std::vector<double> rates(static_cast<std::size_t>(threads));
  pool.run([&](int thread) {
    const Memory data(static_cast<std::size_t>(lines * points * width));  // zeros are transformed as fast as anything
    const Memory tile(lines_of_z.tile_bytes());
    // The best of some rounds: what other programs take meanwhile is no figure of the machine.
    double best_s = 1e9;
    for (const double end_s = seconds() + measured_s; seconds() < end_s;) {
      const double begin_s = seconds();
      lines_of_z.run(data.data(), data.data(), 1, {tile.data(), tile.size()});
      best_s = std::min(best_s, seconds() - begin_s);
    }
    rates[static_cast<std::size_t>(thread)] = static_cast<double>(lines) * line_flops(points) / best_s;
  });
  double sum = 0;
  for (const double rate : rates) {
    sum += rate;
  }
  return sum;
}

model::StorageCosts find_storage_rates(const FileOptions& options, const Extents& size, npy::DataType type,
                                       const std::string& folder, percolate::Engine& engine, std::int64_t max_bytes) {
  if (!options.machine) {
    const percolate::StorageRates storage = percolate::measure_storage(folder, engine, max_bytes);
    return {.read_bytes_per_s = storage.read_bytes_per_s,
            .write_bytes_per_s = storage.write_bytes_per_s,
            .rate_flops = std::max(measure_line_rate(size, type, options.threads, max_bytes), 1.0)};
  }
  const machine::Node& node = options.machine->node;
  // The file's rate is of double precision; a vector register holds twice as many numbers of single.
  const double precision = type == npy::DataType::complex64 ? 2 : 1;
  model::StorageCosts figures{.rate_flops = node.fft_rate_flops_per_core * options.threads * precision};
  for (const machine::MemoryLevel& level : node.memory_levels) {
    if (level.name == "storage") {
      figures.read_bytes_per_s = figures.write_bytes_per_s = level.bandwidth_bytes_per_s;
    }
  }
  if (!(figures.rate_flops > 0) || !(figures.read_bytes_per_s > 0)) {
    throw Error(fmt::format("{} has no FFT rate or no memory level 'storage': leave it out, and both are measured",
                            options.machine->name));
  }
  return figures;
}

}  // namespace penstock::fft

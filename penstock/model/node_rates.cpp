#include "penstock/model/node_rates.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <vector>

namespace penstock::model {
namespace {

struct Point {
  double x;
  double y;
};

/// Between the neighbours of `x` in ascending `points`, of which there is one at least; the nearest one beyond them.
double interpolate(const std::vector<Point>& points, double x) noexcept {
  const auto above = std::ranges::lower_bound(points, x, {}, &Point::x);
  if (above == points.begin()) {
    return points.front().y;
  }
  if (above == points.end()) {
    return points.back().y;
  }
  const Point& below = *(above - 1);
  return below.y + (above->y - below.y) * (x - below.x) / (above->x - below.x);
}

enum class LengthKind { power_of_two, smooth, other };

/// Transforms of pencils, ours and FFTW's, have passes of their own for factors up to 13.
LengthKind kind_of(std::int64_t length) noexcept {
  std::int64_t rest = length;
  while (rest % 2 == 0) {
    rest /= 2;
  }
  if (rest == 1) {
    return LengthKind::power_of_two;
  }
  for (const std::int64_t factor : {3, 5, 7, 11, 13}) {
    while (rest % factor == 0) {
      rest /= factor;
    }
  }
  return rest == 1 ? LengthKind::smooth : LengthKind::other;
}

/// A rate that was measured at a length.
struct LengthRate {
  std::int64_t length;
  double rate;
};

/// The rate at `length`, of `measured` in ascending order, of which there is one at least: between lengths of its class
/// where there are such.
double rate_at(std::int64_t length, const std::vector<LengthRate>& measured) {
  std::vector<Point> alike;
  std::vector<Point> all;
  for (const LengthRate& each : measured) {
    if (each.length == length) {
      return each.rate;
    }
    const Point point{std::log2(static_cast<double>(each.length)), each.rate};
    all.push_back(point);
    if (kind_of(each.length) == kind_of(length)) {
      alike.push_back(point);
    }
  }
  return interpolate(alike.empty() ? all : alike, std::log2(static_cast<double>(length)));
}

double flops_of(const machine::FftRate& rate, const FftKind& kind) noexcept {
  if (kind.is_real) {
    return kind.real_bytes == 4 ? rate.real_single_flops : rate.real_double_flops;
  }
  return kind.real_bytes == 4 ? rate.complex_single_flops : rate.complex_double_flops;
}

double bytes_per_s_of(const machine::DevicePass& pass, const FftKind& kind) noexcept {
  if (kind.is_real) {
    return kind.real_bytes == 4 ? pass.real_single_bytes_per_s : pass.real_double_bytes_per_s;
  }
  return kind.real_bytes == 4 ? pass.complex_single_bytes_per_s : pass.complex_double_bytes_per_s;
}

}  // namespace

double fft_rate_per_core(const machine::Node& node, std::int64_t length, const FftKind& kind) noexcept {
  if (node.fft_rates.empty() || length < 1) {
    // A register holds twice as many numbers of single precision.
    return node.fft_rate_flops_per_core * (kind.real_bytes == 4 ? 2 : 1);
  }
  std::vector<LengthRate> measured;
  for (const machine::FftRate& rate : node.fft_rates) {
    measured.push_back({rate.length, flops_of(rate, kind)});
  }
  return rate_at(length, measured);
}

double tile_bandwidth(const machine::Node& node, std::int64_t threads, double working_set_bytes) noexcept {
  if (node.tile_copies.empty()) {
    if (working_set_bytes <= static_cast<double>(node.cache_bytes)) {
      return std::numeric_limits<double>::infinity();
    }
    const double share = static_cast<double>(std::min(threads, node.cores)) / static_cast<double>(node.cores);
    return node.memory_bandwidth_bytes_per_s * share;
  }
  std::int64_t measured = node.tile_copies.front().threads;
  for (const machine::TileCopy& copy : node.tile_copies) {
    if (copy.threads <= threads) {
      measured = copy.threads;
    }
  }
  std::vector<Point> times;
  for (const machine::TileCopy& copy : node.tile_copies) {
    if (copy.threads == measured) {
      times.push_back({std::log2(static_cast<double>(copy.working_set_bytes)), 1 / copy.bandwidth_bytes_per_s});
    }
  }
  return 1 / interpolate(times, std::log2(std::max(working_set_bytes, 1.0)));
}

double device_pass_rate(const machine::Device& device, const DevicePassKind& pass, double working_set_bytes) {
  const auto is_alike = [&](const machine::DevicePass& each) {
    return each.reads == pass.reads && each.writes == pass.writes;
  };
  const bool has_alike = std::ranges::any_of(device.passes, is_alike);
  std::map<std::int64_t, std::vector<Point>> times;  // by length: of a byte, over the bytes
  for (const machine::DevicePass& each : device.passes) {
    const double bytes_per_s = bytes_per_s_of(each, pass.fft);
    if (bytes_per_s > 0 && (has_alike ? is_alike(each) : each.reads == pass.reads)) {
      times[each.length].push_back({std::log2(static_cast<double>(each.working_set_bytes)), 1 / bytes_per_s});
    }
  }
  if (times.empty()) {
    return device.passes.empty() ? device.memory_bandwidth_bytes_per_s : 0;
  }
  std::vector<LengthRate> measured;
  for (auto& [length, points] : times) {
    std::ranges::stable_sort(points, {}, &Point::x);
    measured.push_back({length, 1 / interpolate(points, std::log2(std::max(working_set_bytes, 1.0)))});
  }
  return rate_at(pass.length, measured);
}

void scale_device_rates(machine::Device& device, double factor) noexcept {
  device.memory_bandwidth_bytes_per_s *= factor;
  for (machine::DevicePass& pass : device.passes) {
    pass.complex_double_bytes_per_s *= factor;
    pass.complex_single_bytes_per_s *= factor;
    pass.real_double_bytes_per_s *= factor;
    pass.real_single_bytes_per_s *= factor;
  }
}

void scale_core_rates(machine::Node& node, double factor) noexcept {
  node.fft_rate_flops_per_core *= factor;
  node.gemm_rate_flops_per_core *= factor;
  for (machine::FftRate& rate : node.fft_rates) {
    rate.complex_double_flops *= factor;
    rate.complex_single_flops *= factor;
    rate.real_double_flops *= factor;
    rate.real_single_flops *= factor;
  }
}

void scale_memory_bandwidth(machine::Node& node, double factor) noexcept {
  node.memory_bandwidth_bytes_per_s *= factor;
  for (machine::ThreadBandwidth& bandwidth : node.thread_bandwidths) {
    bandwidth.copy_bytes_per_s *= factor;
    bandwidth.triad_bytes_per_s *= factor;
  }
  for (machine::TileCopy& copy : node.tile_copies) {
    copy.bandwidth_bytes_per_s *= factor;
  }
  for (machine::MemoryLevel& level : node.memory_levels) {
    if (!is_storage(level)) {
      level.bandwidth_bytes_per_s *= factor;
    }
  }
}

bool is_storage(const machine::MemoryLevel& level) noexcept {
  return level.name == "storage";
}

}  // namespace penstock::model

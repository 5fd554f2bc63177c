// Samples of one time: how many, how they are taken, and what is told of them. Included by probe.hpp.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "penstock/probe/calibration.hpp"

namespace penstock::probe {

/// How many samples are taken of messages of so many bytes, where `rounds` were asked for: of long ones fewer will do.
inline int rounds_of(std::size_t bytes, int rounds) {
  return bytes <= 65536 ? rounds : std::max(5, rounds / 4);
}

/// Seconds of one repetition, of each sample. `run(times)` does the work so many times and returns the seconds that all
/// took. A sample does it as often as takes `options.sample_s`.
inline std::vector<double> sample(const CalibrationOptions& options, const std::function<double(std::int64_t)>& run) {
  constexpr std::int64_t max_times = std::int64_t{1} << 30;
  std::int64_t times = 1;
  double time_s = run(times);
  while (time_s < options.sample_s && times < max_times) {
    const double wanted = options.sample_s / std::max(time_s, 1e-9) * 1.1 * static_cast<double>(times);
    times = std::clamp(static_cast<std::int64_t>(std::min(wanted, 64.0 * static_cast<double>(times))), times + 1,
                       max_times);
    time_s = run(times);
  }
  std::vector<double> samples_s;
  for (int i = 0; i < options.samples; ++i) {
    samples_s.push_back(run(times) / static_cast<double>(times));
  }
  return samples_s;
}

struct Summary {
  double min_s;
  double median_s;
  double p99_s;
};

/// Of at least one sample.
inline Summary summary_of(std::vector<double> samples_s) {
  std::ranges::sort(samples_s);
  const auto at = [&](double share) {
    return samples_s[static_cast<std::size_t>(share * static_cast<double>(samples_s.size() - 1) + 0.5)];
  };
  return {.min_s = samples_s.front(), .median_s = at(0.5), .p99_s = at(0.99)};
}

}  // namespace penstock::probe

// How often a piece of work is done in a sample, and the samples of it. Private to the module.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/probe/calibration.hpp"
#include "penstock/probe/pinned_pool.hpp"

namespace penstock::probe {

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

/// The same with all threads of a thread pool, each doing its part so many times.
inline std::vector<double> sample(const CalibrationOptions& options, PinnedPool& pool,
                                  const std::function<void(int thread, std::int64_t times)>& part) {
  return sample(options, [&](std::int64_t times) {
    const double begin_s = seconds();
    pool.run([&](int thread) { part(thread, times); });
    return seconds() - begin_s;
  });
}

/// 1, 2, 4, ... below `threads`, and `threads`.
inline std::vector<int> thread_counts(int threads) {
  std::vector<int> counts;
  for (int count = 1; count < threads; count *= 2) {
    counts.push_back(count);
  }
  counts.push_back(threads);
  return counts;
}

}  // namespace penstock::probe

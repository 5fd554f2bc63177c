// What is told of many samples of one time. Private to the module.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace penstock::measure {

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

}  // namespace penstock::measure

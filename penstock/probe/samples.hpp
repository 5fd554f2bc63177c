// How many samples of one time are taken, and what is told of them. Included by probe.hpp.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace penstock::probe {

/// How many samples are taken of messages of so many bytes, where `rounds` were asked for: of long ones fewer will do.
inline int rounds_of(std::size_t bytes, int rounds) {
  return bytes <= 65536 ? rounds : std::max(5, rounds / 4);
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

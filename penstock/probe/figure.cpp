#include <fmt/format.h>

#include <string>
#include <utility>

#include "penstock/probe/calibration.hpp"
#include "penstock/probe/samples.hpp"

namespace penstock::probe {

double rounded(double value) {
  return std::stod(fmt::format("{:.4g}", value));
}

Figure better_rate(const Figure& first, const Figure& second) {
  Figure better = first.best >= second.best ? first : second;
  better.samples = first.samples + second.samples;
  return better;
}

Figure time_of(std::vector<double> times_s) {
  const int samples = static_cast<int>(times_s.size());
  const Summary summary = summary_of(std::move(times_s));
  return {.best = rounded(summary.min_s), .median = rounded(summary.median_s), .samples = samples};
}

Figure rate_of(double amount, std::vector<double> times_s) {
  const Figure time = time_of(std::move(times_s));
  return {.best = rounded(amount / time.best), .median = rounded(amount / time.median), .samples = time.samples};
}

}  // namespace penstock::probe

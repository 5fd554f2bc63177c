// Computation of a known duration, for benchmarks of what overlaps with computation. Not included by base.hpp.
#pragma once

#include <algorithm>
#include <cmath>

#include "penstock/base/clock.hpp"

#pragma GCC visibility push(default)

namespace penstock {

/// Arithmetic that touches no memory, in units of about a microsecond. The amount of work is fixed: a thread that is
/// preempted takes longer for it.
class Computation {
 public:
  /// Measures the time of a unit, in about 20 ms: the minimum of five measurements, so that preemption does not count.
  Computation() {
    run(1000);
    constexpr int units = 4000;
    for (int repetition = 0; repetition < 5; ++repetition) {
      const double begin_s = seconds();
      run(units);
      const double unit_s = (seconds() - begin_s) / units;
      unit_s_ = repetition == 0 ? unit_s : std::min(unit_s_, unit_s);
    }
  }

  /// The number of units that take about `time_s`, at least 1.
  int units_for(double time_s) const noexcept { return std::max(1, static_cast<int>(std::lround(time_s / unit_s_))); }

  void run(int units) noexcept {
    for (int i = 0; i < units * 250; ++i) {
      value_ = value_ * 0.999999 + 1e-6;  // each iteration waits for the one before: some nanoseconds
    }
    sink_ = value_;
  }

 private:
  double value_ = seconds();  // a value that no compiler knows
  double unit_s_ = 0;
  volatile double sink_ = 0;
};

}  // namespace penstock

#pragma GCC visibility pop

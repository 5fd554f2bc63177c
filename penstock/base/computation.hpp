// Work of a known length, for measuring what goes on beside it. Not included by base.hpp.
#pragma once

#include <algorithm>
#include <cmath>

#include "penstock/base/clock.hpp"

namespace penstock {

/// Arithmetic that touches no memory, in units of about a microsecond: as much of it, however often the processor is
/// taken away meanwhile.
class Computation {
 public:
  /// Measures how long a unit takes where nothing takes the processor away, in about 20 ms.
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

  int units_for(double time_s) const noexcept { return std::max(1, static_cast<int>(std::lround(time_s / unit_s_))); }

  void run(int units) noexcept {
    for (int i = 0; i < units * 250; ++i) {
      value_ = value_ * 0.999999 + 1e-6;  // each waits for the one before: some nanoseconds
    }
    sink_ = value_;
  }

 private:
  double value_ = seconds();  // what no compiler knows
  double unit_s_ = 0;
  volatile double sink_ = 0;
};

}  // namespace penstock

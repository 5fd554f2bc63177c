// What a run computes: all that its results depend on.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "flow.hpp"

namespace navier_stokes {

struct Parameters {
  Flow flow = Flow::vortex_3d;
  std::int64_t n = 64;
  double reynolds = 100;
  double dt = 0;  ///< 0: `safe_dt`
};

/// "3d" or "2d".
std::string_view name_of(Flow flow);

/// A step of time that the Runge-Kutta method bears with speeds up to 2 and a margin.
double safe_dt(const Parameters& parameters);

/// As a user would give them on the command line.
std::string text_of(const Parameters& parameters);

}  // namespace navier_stokes

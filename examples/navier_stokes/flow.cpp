#include "flow.hpp"

#include <cmath>

namespace navier_stokes {

Vector first_velocity(Flow flow, const Vector& point) {
  if (flow == Flow::vortex_2d) {
    return exact_velocity_2d(1, 0, point);
  }
  const auto& [x, y, z] = point;
  return {std::sin(x) * std::cos(y) * std::cos(z), -std::cos(x) * std::sin(y) * std::cos(z), 0};
}

Vector exact_velocity_2d(double reynolds, double time, const Vector& point) {
  // Across and along the rows of every transform, so that an error in any direction shows.
  constexpr Vector wind{0.25, 0.5, 1};
  const double y = point[1] - wind[1] * time;
  const double z = point[2] - wind[2] * time;
  const double decay = std::exp(-2 * time / reynolds);
  return {wind[0], wind[1] + decay * std::sin(y) * std::cos(z), wind[2] - decay * std::cos(y) * std::sin(z)};
}

double enstrophy_3d(double reynolds, double time) {
  const double nu = 1 / reynolds;
  const double nu2 = nu * nu;
  const double t = time;
  const std::array<double, 6> terms{1,
                                    -6 * nu,
                                    5. / 48 + 18 * nu2,
                                    -(5. / 3 + 36 * nu2) * nu,
                                    50. / (99 * 64) + (1835. / (9 * 16) + 54 * nu2) * nu2,
                                    -(361. / (44 * 32) + (761. / 12 + 324. / 5 * nu2) * nu2) * nu};
  double sum = 0;
  for (auto term = terms.rbegin(); term != terms.rend(); ++term) {
    sum = sum * t + *term;
  }
  return 3. / 8 * sum;
}

double enstrophy_3d_error(double reynolds, double time) {
  // The coefficients of t^6 are not in the paper; tests/examples/taylor_green_series.py finds them with the others.
  const double nu2 = 1 / (reynolds * reynolds);
  const double coefficient = 52439. / 141250560 + (24139. / 6336 + (50449. / 216 + 324. / 5 * nu2) * nu2) * nu2;
  return 2 * 3. / 8 * coefficient * std::pow(time, 6);
}

}  // namespace navier_stokes

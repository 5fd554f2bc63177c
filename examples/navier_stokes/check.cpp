#include "check.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace navier_stokes {
namespace {

/// An error and the most that it may be.
struct Comparison {
  const char* what;
  double error;
  double limit;
};

/// Whether the error is within its limit; printed on rank 0. What is not a number is not.
bool tell(const penstock::gas::Team& team, const Comparison& compared) {
  const bool is_right = compared.error <= compared.limit;
  if (team.rank() == 0) {
    std::printf("check: %s: %.1e, at most %.1e: %s\n", compared.what, compared.error, compared.limit,
                is_right ? "right" : "WRONG");
  }
  return is_right;
}

// What steps of time of the default length keep, with a margin of ten or more: longer ones are found wrong.
constexpr double energy_limit = 1e-5;     // of the first energy
constexpr double enstrophy_limit = 1e-6;  // beside what the series itself may be wrong by
constexpr double velocity_limit = 1e-4;   // for each unit of time
constexpr double rounding = 1e-12;

Comparison compare_energies(const History& history) {
  double error = 0;
  for (std::size_t i = 0; i < history.size(); ++i) {
    error = std::max(error, std::abs(unaccounted(history, i)));
  }
  return {"energy that is neither left nor turned to heat, part of the first", error, energy_limit};
}

Comparison compare_enstrophies(const Parameters& parameters, const History& history) {
  Comparison worst{"enstrophy beside Taylor and Green's series until time 1/2", 0, 0};
  double most = 0;  // of an error's part of its limit
  for (std::size_t i = 0; i < history.size(); ++i) {
    const double time = parameters.dt * static_cast<double>(i);
    if (time > 0.5) {
      break;
    }
    const double error = std::abs(history[i].enstrophy - enstrophy_3d(parameters.reynolds, time));
    const double limit = enstrophy_3d_error(parameters.reynolds, time) + enstrophy_limit;
    if (!(error <= most * limit)) {
      most = error / limit;
      worst = {worst.what, error, limit};
    }
  }
  return worst;
}

}  // namespace

bool check(const penstock::gas::Team& team, const Parameters& parameters, const History& history, Solver& solver) {
  const bool has_energy = tell(team, compare_energies(history));
  if (parameters.flow == Flow::vortex_3d) {
    return tell(team, compare_enstrophies(parameters, history)) && has_energy;
  }
  const double time = parameters.dt * static_cast<double>(history.size() - 1);
  const double error = solver.largest_difference(
      [&](const Vector& point) { return exact_velocity_2d(parameters.reynolds, time, point); });
  const Comparison velocities{"velocity beside the exact one, at the worst point", error,
                              velocity_limit * time + rounding};
  return tell(team, velocities) && has_energy;
}

}  // namespace navier_stokes

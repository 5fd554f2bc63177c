// Compares a run with what is known of its flow.
#pragma once

#include <penstock/gas/gas.hpp>

#include "history.hpp"
#include "parameters.hpp"
#include "solver.hpp"

namespace navier_stokes {

/// Collective: prints on rank 0 what was compared and how near it came, and returns whether all is as it must be:
/// - energy: what is lost has turned to heat;
/// - 3d: enstrophy in its first time is that of Taylor and Green's series;
/// - 2d: the velocity is the exact one, at every point.
bool check(const penstock::gas::Team& team, const Parameters& parameters, const History& history, Solver& solver);

}  // namespace navier_stokes

// A run's state in a file, from which it goes on with the same bits on as many ranks, and goes on, too, on any others.
#pragma once

#include <penstock/gas/gas.hpp>
#include <string>

#include "history.hpp"
#include "parameters.hpp"
#include "solver.hpp"

namespace navier_stokes {

/// Collective: writes the history and the modes that are kept beside `path`, and renames them to it once they are on
/// the disk, so that a run that is killed leaves the former file or the whole new one. Throws penstock::Error on every
/// rank where that cannot be done.
void write_checkpoint(const penstock::gas::Team& team, const std::string& path, const Parameters& parameters,
                      const History& history, Solver& solver);

/// Collective: fills the velocity of `solver` and returns the history. Throws penstock::Error on every rank where the
/// file is none of ours, is not whole, was changed, or is of other parameters.
History read_checkpoint(const penstock::gas::Team& team, const std::string& path, const Parameters& parameters,
                        Solver& solver);

}  // namespace navier_stokes

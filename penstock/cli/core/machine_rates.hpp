// The rates of the machine that limits are computed from: measured in this run, or read from a machine file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "penstock/cli/core/session.hpp"
#include "penstock/machine/machine.hpp"
#include "penstock/model/model.hpp"

namespace penstock::cli {

/// What the ranks have together, and who says so.
struct MachineRates {
  machine::Machine machine;
  model::Resources resources;
  std::string source;  ///< "measured in this run", or the path of a machine file
};

/// Collective: the machine of the file `path`, or the one detected, named by its host, where there is none. Throws
/// Error on every rank for a file that cannot be used.
machine::Machine read_machine(const Session& session, const std::string& path);

/// Collective: the rates of `machine` where it was read from the file `path`, in all nodes, for the cores that the
/// ranks' threads take; else measured, in less than 0.5 s, with all ranks and threads at once. What is in `memory` is
/// lost.
template <class Real>
MachineRates find_rates(const Session& session, const machine::Machine& machine, const std::string& path,
                        const model::Fft& problem, std::span<std::byte> memory);

}  // namespace penstock::cli

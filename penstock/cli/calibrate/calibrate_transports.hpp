// The figures of transports between two ranks for a machine file.
#pragma once

#include "penstock/cli/calibrate/calibrate_node.hpp"
#include "penstock/cli/calibrate/calibrated_machine.hpp"
#include "penstock/cli/core/session.hpp"

namespace penstock::cli {

/// Collective: adds every transport between the ranks that is built in, or the one that --transport names; what cannot
/// be had is told in `left_out`. Several nodes get a network, taken for a crossbar. The result is of rank 0.
void calibrate_transports(CalibratedMachine& calibrated, Session& session, const probe::CalibrationOptions& options,
                          const TellStep& tell);

/// What these steps usually take (see TellStep).
double usual_transports_s(const Session& session);

}  // namespace penstock::cli

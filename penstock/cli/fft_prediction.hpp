// What the model of a machine file predicts for a transform that is about to be measured.
#pragma once

#include "penstock/cli/session.hpp"
#include "penstock/fft/fft.hpp"
#include "penstock/machine/machine.hpp"
#include "penstock/model/model.hpp"

namespace penstock::cli {

/// The run of a plan that was made, as the model takes it. Messages go by the machine's transport of the team's name,
/// or where it has none of that, its first.
model::PlannedFft describe_run(const Session& session, const machine::Machine& machine, const model::Fft& problem,
                               const fft::Decision& decision, fft::Output output);

}  // namespace penstock::cli

// What a simulated run does on each rank. Both are collective over `team`, whose ranks are the simulator's.
#pragma once

#include "penstock/fft/fft.hpp"
#include "penstock/field/field.hpp"
#include "penstock/gas/gas.hpp"
#include "penstock/machine/machine.hpp"
#include "penstock/model/model.hpp"

namespace penstock::simulate {

/// A real transform beside what it should be, as field::check has it, and the simulated time of one call, in which
/// computing takes none.
struct Checked {
  double relative_error = 0;
  double tolerance = 0;
  double time_s = 0;
};
Checked run_transform(const gas::Team& team, const fft::Options& options);

/// The simulated seconds of one forward transform without its data: the plan's own tiles and messages, in its order, as
/// Pipeline runs them, where a stage takes the time that `model` says. Times of up to `resolution_s` are not told
/// apart: computing passes in steps that are longer.
double rehearse(const gas::Team& team, const fft::Options& options, const machine::Transport& transport,
                const model::FftTime& model, double resolution_s);

}  // namespace penstock::simulate

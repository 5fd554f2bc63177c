// A machine as curves, for the page of `penstock calibrate --report`.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "penstock/machine/machine.hpp"

namespace penstock::cli {

/// Of what has more than one point: memory over threads, caches over what they hold, transforms over their length, and
/// messages of each transport over theirs, as lists of {title, x_name, y_name, unit, x, series: [{name, y}]}.
nlohmann::ordered_json machine_curves(const machine::Machine& machine);

}  // namespace penstock::cli

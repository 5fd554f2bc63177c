// The figures of one node for its machine file.
#pragma once

#include <functional>
#include <string>

#include "penstock/cli/calibrate/calibrated_machine.hpp"

namespace penstock::cli {

/// Tells what is measured now, and how many seconds that usually takes (two cores of a Zen 4 server, 2026-11); with
/// fewer samples, and on other machines, about the same share of the whole.
using TellStep = std::function<void(const std::string& step, double usual_s)>;

/// What all steps of `calibrate_node` usually take.
constexpr double usual_node_s = 61;

/// Fills in this node: its cores and caches as the system tells them, all rates measured. The disk is that of `folder`.
/// Throws Error where there is no memory, or nothing can be written to the folder.
void calibrate_node(CalibratedMachine& calibrated, const probe::CalibrationOptions& options, const std::string& folder,
                    const TellStep& tell);

}  // namespace penstock::cli

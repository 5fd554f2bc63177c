// The figures of one node for its machine file.
#pragma once

#include <functional>
#include <string>

#include "penstock/cli/calibrate/calibrated_machine.hpp"

namespace penstock::cli {

/// Tells what is measured now.
using TellStep = std::function<void(const std::string& step)>;

/// Fills in this node: its cores and caches as the system tells them, all rates measured. The disk is that of `folder`.
/// Throws Error where there is no memory, or nothing can be written to the folder.
void calibrate_node(CalibratedMachine& calibrated, const probe::CalibrationOptions& options, const std::string& folder,
                    const TellStep& tell);

}  // namespace penstock::cli

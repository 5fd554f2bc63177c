// The figures of a node's accelerators for its machine file.
#pragma once

#include <memory>

#include "penstock/cli/calibrate/calibrate_node.hpp"
#include "penstock/device/device.hpp"

namespace penstock::cli {

/// What all steps of `calibrate_device` usually take where kernels have to be compiled.
constexpr double usual_device_s = 330;

/// Fills in `node.device` by measurements of `device`, one of those of the node that are like it. Throws Error where
/// the device has no memory left, or its kernels cannot be compiled.
void calibrate_device(CalibratedMachine& calibrated, const std::shared_ptr<const device::Device>& device,
                      const probe::CalibrationOptions& options, bool is_quick, const TellStep& tell);

}  // namespace penstock::cli

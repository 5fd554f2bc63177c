// What all runs on devices tell alike: the device and its rates.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "penstock/device/device.hpp"

namespace penstock::cli {

/// Lines of a report.
std::string describe_device(const device::Properties& device, const device::Rates& rates);

nlohmann::ordered_json device_json(const device::Properties& device, const device::Rates& rates);

}  // namespace penstock::cli

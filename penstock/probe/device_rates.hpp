// What a device reaches, thoroughly, for the machine file. Included by probe.hpp.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "penstock/device/device.hpp"
#include "penstock/probe/calibration.hpp"

namespace penstock::probe {

/// What a machine file has of a device but for its passes.
struct DeviceCosts {
  Figure memory_bandwidth_bytes_per_s;  ///< the rates as device::Rates has them
  Figure to_device_bytes_per_s;
  Figure to_host_bytes_per_s;
  Figure launch_s;        ///< of a kernel that does nothing, until the host knows that it is done
  Figure copy_latency_s;  ///< of a copy of 64 bytes to the device, likewise
  Figure bus_progress;    ///< the part of a copy to the host, from 0 to 1, that goes on while kernels run
};

/// Throws Error where the device has no memory left for copies, and where no kernel can be compiled.
DeviceCosts measure_device(const std::shared_ptr<const device::Device>& device, const CalibrationOptions& options);

/// Passes of transforms over device memory, as machine::DevicePass has them. A figure of no samples is of transforms
/// that the device does not do.
struct DevicePassRates {
  std::int64_t length = 0;
  std::string reads = {};
  std::string writes = {};
  std::int64_t working_set_bytes = 0;
  Figure complex_double = {};
  Figure complex_single = {};
  Figure real_double = {};
  Figure real_single = {};
};

/// The lengths that `measure_device_passes` is given for a machine file: powers of two, others with small factors, and
/// some without; a few of them for a quick one.
std::vector<std::int64_t> device_pass_lengths(bool is_quick);

/// Passes of those lengths that the device transforms, in the orders in which plans have them, over a quarter of a
/// cache's and over several caches' bytes, in two rounds: what else runs on a device that is the host differs from time
/// to time. Rounds take fewer samples than other figures do. Calls `progress` for each length of a round. Throws Error
/// as `measure_device`, and where a kernel cannot be compiled.
std::vector<DevicePassRates> measure_device_passes(const std::shared_ptr<const device::Device>& device,
                                                   const std::vector<std::int64_t>& lengths,
                                                   const CalibrationOptions& options,
                                                   const std::function<void(const std::string&)>& progress);

}  // namespace penstock::probe

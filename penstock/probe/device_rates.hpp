// What a device reaches. Included by probe.hpp.
#pragma once

#include "penstock/device/device.hpp"

namespace penstock::probe {

/// The rates of a device and of its bus.
struct DeviceRates {
  double memory_bandwidth_bytes_per_s = 0;  ///< of copies within device memory: bytes read plus bytes written
  double to_device_bytes_per_s = 0;         ///< of copies from pinned host memory
  double to_host_bytes_per_s = 0;           ///< of copies to pinned host memory
};

/// Measures a device, in about a quarter of a second where it is an accelerator: the best of several copies. Throws
/// Error where the device has no memory left for them.
DeviceRates device_rates(const device::Device& device);

}  // namespace penstock::probe

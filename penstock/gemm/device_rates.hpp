// What a device multiplies and moves, measured in a moment. Included by gemm.hpp.
#pragma once

#include <cstdint>

#include "penstock/device/device.hpp"
#include "penstock/npy/npy.hpp"

#pragma GCC visibility push(default)

namespace penstock::gemm {

/// The rates of a device, by which tiles are chosen and times predicted.
struct DeviceRates {
  double flops = 0;           ///< of multiplies of matrices in device memory
  double call_s = 0;          ///< the time of the smallest multiply
  device::Rates copies = {};  ///< of its memory, and of its bus
};

/// Measures a device with at most `max_bytes` of its memory, in some tenths of a second; on OpenCL for seconds where
/// CLBlast first compiles its kernels. The multiplies that are measured grow until one takes 10 ms. Throws Error where
/// `type` is complex, and where the device has no BLAS, no memory left, or has failed.
DeviceRates measure_device(const device::Device& device, npy::DataType type, std::uint64_t max_bytes);

/// Throws Error where devices do not multiply matrices of `type`, or this device does not.
void check_device_type(const device::Device& device, npy::DataType type);

}  // namespace penstock::gemm

#pragma GCC visibility pop

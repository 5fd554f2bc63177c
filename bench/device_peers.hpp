// Peers on devices: 3-D transforms in device memory by other libraries, in place, complex to complex.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "penstock/device/device.hpp"

namespace penstock::bench {

/// A peer's transform of n^3 points.
class DevicePeer {
 public:
  virtual ~DevicePeer() = default;
  virtual std::string name() const = 0;
  /// Transforms forward, and waits for the device.
  virtual void run() = 0;
};

/// cuFFT's, of the array at `field`; null where the system has no libcufft.so.
std::unique_ptr<DevicePeer> cufft_peer(const device::Location& field, std::int64_t n, std::int64_t real_bytes);

/// VkFFT's over OpenCL, on the system's OpenCL device `number`, in memory of its own; null where this build has none.
std::unique_ptr<DevicePeer> vkfft_peer(std::size_t number, std::int64_t n, std::int64_t real_bytes);

}  // namespace penstock::bench

// `penstock fft --device auto`: a device where the model says that it pays.
#pragma once

#include <string>

#include "penstock/cli/core/session.hpp"
#include "penstock/cli/fft/fft_options.hpp"

namespace penstock::cli {

/// Collective: for fields in host memory, compares the model's times of transforms through this node's devices and on
/// its processors, by the machine file of `options`, with the plans of both. Returns whether the device pays, with a
/// sentence that says why. Throws Error on every rank where no machine file with a device is given.
struct DeviceChoice {
  bool pays = false;
  std::string why;
};
DeviceChoice choose_device(const Session& session, const FftOptions& options);

}  // namespace penstock::cli

// The devices that --device names.
#pragma once

#include <memory>
#include <string>

#include "penstock/cli/core/session.hpp"
#include "penstock/device/device.hpp"

namespace penstock::cli {

/// Collective: the device of this rank: that of the selector, or for "any" the accelerators of its node in turn. Throws
/// Error on every rank where there is no such device.
std::shared_ptr<const device::Device> open_device(const Session& session, const std::string& selector);

}  // namespace penstock::cli

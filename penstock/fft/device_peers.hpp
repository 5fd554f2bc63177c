// The device memory of peers, and which messages of a device plan go straight there. Private to the module.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "penstock/fft/device_pipeline.hpp"
#include "penstock/fft/device_plan.hpp"
#include "penstock/fft/device_schedule.hpp"

namespace penstock::fft {

/// The path of messages to peers whose device memory this rank's device reaches.
enum class MessagePath {
  fastest,  ///< that which copies of the message's size are measured to be faster by
  direct,   ///< straight to the peer's device
  host,     ///< through the host
};

/// For tests: plans whose messages take a path that is not chosen by time.
struct PlanMaker {
  /// Collective. As the plan's constructor.
  template <class Real>
  static DevicePlan<Real> make(const gas::Team& team, std::shared_ptr<const device::Device> device,
                               const Options& options, FieldsOn fields_on, MessagePath path) {
    return DevicePlan<Real>(team, std::move(device), options, fields_on, path);
  }
};

/// Collective: opens what peers that map one another's host memory have in `resources.blocks`.
void open_peer_blocks(const gas::Team& team, DeviceResources& resources);

/// Collective: marks the messages of both schedules, whose blocks are in device memory, that go straight to the peer's
/// device: those of at least some size for each pair of ranks. The sender finds that size, by copies between blocks
/// that hold nothing yet, and tells the receiver. Tells what was decided.
DeviceMessages choose_paths(const gas::Team& team, DeviceResources& resources, DeviceSchedule& forward,
                            DeviceSchedule& backward, MessagePath path);

}  // namespace penstock::fft

// The time of a transform on devices: passes over their memory, copies over the bus, and messages between ranks, of
// which chunks of planes follow one another through these steps. Included by model.hpp.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "penstock/machine/machine.hpp"
#include "penstock/model/node_rates.hpp"
#include "penstock/model/resource.hpp"

#pragma GCC visibility push(default)

namespace penstock::model {

/// One stage of one field, on the rank that has most. Bytes over the bus are those that the stage brings from the host
/// before its kernels, and takes to the host after them.
struct DeviceFftStage {
  DevicePassKind pass{};
  double pass_bytes = 0;      ///< read and written by kernels; 0 where data only changes places
  double copied_bytes = 0;    ///< read and written by copies within device memory
  double received_bytes = 0;  ///< from the host
  /// It is brought with the stage's own chunks; else while the stage before makes it.
  bool is_received_by_chunks = false;
  std::int64_t received_copies = 0;
  double sent_bytes = 0;  ///< to the host
  std::int64_t sent_copies = 0;
  double peer_bytes = 0;    ///< of sent_bytes: in messages to peers
  std::int64_t peers = 0;   ///< that get messages
  std::int64_t chunks = 1;  ///< of planes, which follow one another
  /// A chunk begins when the stage before is done with the same planes; else when it is done with all.
  bool follows_chunks = false;
};

/// A transform and how it is run.
struct DeviceFft {
  std::vector<DeviceFftStage> stages = {};
  std::int64_t fields = 1;  ///< one after the other
  std::int64_t nodes = 1;
  std::int64_t ranks_per_node = 1;
  std::int64_t ty = 1;  ///< the grid of ranks
  std::int64_t tz = 1;
  /// Whether ranks of one node write into one another's memory; else they send messages as ranks of different nodes do.
  bool is_node_shared = true;
  /// The name of the machine's transport that carries messages; empty: as `find_transport` says.
  std::string transport = {};
};

/// The parts of a call's time, of all fields.
struct DeviceFftTime {
  std::vector<double> passes_s;  ///< of each stage's kernels and copies within device memory
  double pass_s = 0;             ///< of all
  double bus_s = 0;              ///< copies between host and device
  double launch_s = 0;           ///< beginning kernels and copies
  double message_s = 0;          ///< between ranks, of what does not go through shared memory
  double hidden_s = 0;           ///< the part of all this that goes on at the same time as another one
  double total_s = 0;            ///< the sum, less hidden_s
};

/// The time of one call. Ranks of a node share its devices, and a device's ranks its rates. Where chunks follow one
/// another through copies to the device, kernels and copies to the host, (1 - 1 / chunks) of all but the longest of
/// these three is hidden, as far as the bus progresses meanwhile. Throws Error where the machine has no `node.device`
/// or its device does no such transforms, counts are below 1, or the machine lacks the transport or network for
/// messages.
DeviceFftTime device_fft_time(const machine::Machine& machine, const DeviceFft& run);

/// The gains of doubling each resource, the largest first: the first one's resource bounds the run.
std::vector<Gain> device_fft_gains(const machine::Machine& machine, const DeviceFft& run);

}  // namespace penstock::model

#pragma GCC visibility pop

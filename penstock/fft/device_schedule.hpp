// The schedule of a transform on a rank's device: stages of kernels, and the blocks that ranks exchange between them.
// Private to the module.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "penstock/fft/problem.hpp"
#include "penstock/fft/route.hpp"
#include "penstock/gas/gas.hpp"
#include "penstock/transform/transform.hpp"

namespace penstock::fft {

using transform::Adjacent;

/// The points that one rank sends another in an exchange: a box, whose elements lie without gaps, at `offset` bytes of
/// the device memory of the exchange. What the rank keeps is a block too.
struct DeviceBlock {
  int peer = 0;
  Box box{};
  Extents strides{};  ///< in elements, by direction
  std::int64_t offset = 0;
};

/// A message: a part of a block, contiguous in it.
struct DeviceMessage {
  std::size_t chunk = 0;    ///< of the sender's stage
  std::int64_t offset = 0;  ///< in the device memory of the exchange
  std::int64_t bytes = 0;
};

/// An exchange between two stages. Its device memory has the incoming blocks first, then the outgoing ones but this
/// rank's own, which is the incoming one.
struct DeviceExchange {
  std::int64_t element_bytes = 0;
  /// Whether every block spans all pencils of the stage before and of the stage after: their kernels then write and
  /// read blocks themselves. Else blocks are copied.
  bool is_fused = false;
  std::vector<DeviceBlock> outgoing;
  std::vector<DeviceBlock> incoming;
  std::int64_t device_bytes = 0;
  std::int64_t host_bytes = 0;  ///< what peers write into this rank's segment
  std::vector<gas::Outgoing> outgoing_messages;
  std::vector<gas::Incoming> incoming_messages;
  std::vector<DeviceMessage> sent;      ///< for each outgoing message
  std::vector<DeviceMessage> received;  ///< for each incoming message
  /// Whether a chunk of the stage after needs only messages of the peers' chunks of the same planes.
  bool walks_same_planes = false;
  std::vector<std::vector<Range>> chunks;  ///< by rank: those of the stage before, of its outer direction
};

/// One end of a stage on a device.
struct DeviceStageEnd {
  bool is_user = false;      ///< the user's array
  std::size_t exchange = 0;  ///< else which one
  Adjacent adjacent = Adjacent::points;
};

/// A stage on one rank: transforms of pencils along `along`, `across` beside each other, at all `outer` indices. A
/// stage without a kind moves data.
struct DeviceStage {
  int along = 0;
  int across = 0;
  int outer = 0;
  std::optional<RowKind> kind;
  Box before{};
  Box after{};
  std::int64_t before_bytes = 0;  ///< of an element
  std::int64_t after_bytes = 0;
  DeviceStageEnd source{};
  DeviceStageEnd sink{};
  std::vector<Range> chunks{};  ///< of the outer direction, in the order in which they run

  Range outer_range() const noexcept {
    return {before.lower[static_cast<std::size_t>(outer)], before.extent[static_cast<std::size_t>(outer)]};
  }
};

/// A route on one rank's device.
struct DeviceSchedule {
  std::vector<DeviceStage> stages;
  std::vector<DeviceExchange> exchanges;
};

/// Plans a route for `rank`; local. Every rank gets the same messages.
DeviceSchedule make_device_schedule(const Problem& problem, Direction direction, int rank);

}  // namespace penstock::fft

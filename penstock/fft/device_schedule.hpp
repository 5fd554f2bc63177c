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

/// What is left open of schedules until the memory of devices is known; the same on all ranks.
struct DeviceTuning {
  /// Stages that need nothing of one another but the same planes run chunk by chunk, one after the other.
  bool joins_stages = false;
  bool spills = false;  ///< blocks of exchanges lie in host memory
  /// Of each stage, as far as it has planes; more where `planes_per_message` asks for it. Eight, so that the kernel,
  /// the copies and the transfer overlap, and each is long enough to run at full rate.
  std::int64_t chunks = 8;
};

/// Where points lie between two stages.
enum class BlockPlace {
  device,  ///< blocks in device memory
  chunk,   ///< a chunk at a time in device memory: the stages are joined
  host,    ///< blocks in host memory, in the segment of the exchange
};

/// The points that one rank sends another in an exchange: a box, whose elements lie without gaps. What the rank keeps
/// is a block too.
struct DeviceBlock {
  int peer = 0;
  Box box{};
  Extents strides{};        ///< in elements, by direction
  std::int64_t offset = 0;  ///< in bytes of the exchange's device memory, or of this rank's segment
};

/// A message: planes of a block, contiguous in it.
struct DeviceMessage {
  std::size_t block = 0;  ///< of the outgoing or the incoming ones
  std::size_t chunk = 0;  ///< of the sender's stage
  Range planes{};         ///< of the sender's outer direction
  std::int64_t offset = 0;
  std::int64_t bytes = 0;
  bool is_direct = false;  ///< goes straight to the block on the peer's device
};

/// An exchange between two stages. The incoming blocks come first in its memory. In device memory the outgoing ones
/// follow, but this rank's own, which is the incoming one. Blocks in host memory have no outgoing ones beside: what a
/// stage makes for a peer goes to the peer's memory at once.
struct DeviceExchange {
  std::size_t memory = 0;  ///< the number of its memory: those of joined stages come last
  BlockPlace place = BlockPlace::device;
  std::int64_t element_bytes = 0;
  std::array<int, 3> order{};  ///< of directions in a block, from slowest to fastest: the sender's outer one first
  /// Whether every block spans all pencils of the stage before and of the stage after: their kernels then write and
  /// read blocks in device memory themselves. Else these are copied.
  bool is_fused = false;
  std::vector<DeviceBlock> outgoing;
  std::vector<DeviceBlock> incoming;
  std::int64_t device_bytes = 0;
  std::int64_t host_bytes = 0;  ///< of this rank's segment: what peers write, and this rank's own block if it is there
  std::vector<gas::Outgoing> outgoing_messages;
  std::vector<gas::Incoming> incoming_messages;
  std::vector<DeviceMessage> sent;      ///< for each outgoing message
  std::vector<DeviceMessage> received;  ///< for each incoming message
  /// Whether a chunk of the stage after needs only what chunks of the same planes have made, of this rank and of peers.
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
  std::vector<Range> chunks{};  ///< of the outer direction, in the order in which they run; none without points

  Range outer_range() const noexcept {
    return {before.lower[static_cast<std::size_t>(outer)], before.extent[static_cast<std::size_t>(outer)]};
  }
};

/// A route on one rank's device.
struct DeviceSchedule {
  std::vector<DeviceStage> stages;
  std::vector<DeviceExchange> exchanges;
};

/// The strides of an array of `extent` points without gaps, whose directions lie in `order`, from slowest to fastest.
Extents compact_strides(const std::array<int, 3>& order, const Extents& extent) noexcept;

/// The part of a box in `planes` of direction `outer`; none of its points where the planes are not in the box.
Box chunk_of(const Box& box, int outer, const Range& planes) noexcept;

/// Plans a route for `rank`; local. Every rank gets the same messages. The first stage and the last are never joined
/// with all between them: a transform in place may write only what it has read.
DeviceSchedule make_device_schedule(const Problem& problem, Direction direction, int rank, const DeviceTuning& tuning);

}  // namespace penstock::fft

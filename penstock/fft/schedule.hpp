// The schedule of a transform on one rank, as data that the pipeline walks: passes of stages of tiles, and their moves.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "penstock/fft/block.hpp"
#include "penstock/fft/decomposition.hpp"
#include "penstock/fft/local_transform.hpp"
#include "penstock/fft/problem.hpp"
#include "penstock/fft/route.hpp"
#include "penstock/gas/gas.hpp"
#include "penstock/mover/mover.hpp"

namespace penstock::fft {

/// Where tiles are read from and written to.
enum class Place {
  user,      ///< the user's array
  exchange,  ///< what peers have written into this rank's segment; the messages to peers
  plane,     ///< a plane in the thread's cache, between two stages of one pass
};

/// Something of a tile at one of its ends: at outer index o it lies at `offset + (o - first) * stride` bytes, where
/// `first` is the first outer index of the section.
struct Far {
  std::int64_t offset = 0;
  std::int64_t stride = 0;
  std::size_t message = 0;  ///< of a sink that is an exchange: the outgoing message that it is part of
  std::int64_t at(std::int64_t outers) const noexcept { return offset + outers * stride; }
};

/// Some points of all pencils of a tile that the transform itself reads or writes where they lie.
struct Stretch {
  Far far;
  std::int64_t first_point = 0;
  std::int64_t points = 0;
  std::int64_t point_stride = 0;
};

/// One copy between a place and a tile in cache, whose pencils are rows.
struct Move {
  Far far;
  mover::Mover mover;
  std::int64_t tile_offset = 0;
};

/// What a tile is at one end: stretches of pencils, or copies.
struct TileEnd {
  std::vector<Stretch> stretches;
  std::int64_t pencil_stride = 0;  ///< of stretches
  std::vector<Move> moves;
  std::vector<std::size_t> messages;  ///< of an exchange: those incoming that a source lies in, outgoing of a sink
  std::int64_t bytes = 0;
};

/// Outer indices [first, end) whose tiles take part in the same messages.
struct Section {
  std::int64_t first = 0;
  std::int64_t end = 0;
  std::size_t group = 0;       ///< of its end's groups, the one that it is a part of
  std::vector<TileEnd> tiles;  ///< of an outer index
};

/// Sections of a sink whose planes share messages.
struct MessageGroup {
  std::int64_t tiles = 0;             ///< of all its sections
  std::vector<std::size_t> messages;  ///< the outgoing messages that these tiles make complete
};

/// One end of a stage.
struct End {
  Place place = Place::user;
  bool is_sink = false;
  bool may_stream = false;                ///< of a sink: stores past the cache pay
  std::size_t exchange = 0;               ///< which one, where the place is one
  Spacing spacing = Spacing::contiguous;  ///< of pencils that a transform meets there: in the tile, where there is one
  bool is_direct = false;                 ///< the transform meets them at the place itself: no tile, no copies
  std::int64_t element_bytes = 0;
  std::int64_t pitch_bytes = 0;  ///< from row to row of the tile, or of the plane
  std::vector<Section> sections{};
  std::vector<MessageGroup> groups{};  ///< of a sink
  /// Of a sink that is an exchange into arrays, by outgoing message: the bytes there from a field to the next.
  std::vector<std::int64_t> field_strides{};
  /// Of a sink: outgoing messages that are sent once those of all groups are, in this order.
  std::vector<std::size_t> deferred_messages{};

  /// The number of the section that outer index `outer` lies in.
  std::size_t section_of(std::int64_t outer) const noexcept;
};

/// 1-D transforms along one direction of this rank's box. A tile is a fixed index in direction `outer`, some indices in
/// direction `across`, all in direction `along`: pencils along `along`.
struct Stage {
  std::size_t number = 0;  ///< in the order of the schedule's stages
  int outer = 0;
  int across = 0;
  int along = 0;
  Range outer_range{};
  std::int64_t along_lower = 0;    ///< where pencils begin
  std::vector<Range> tiles;        ///< index ranges across
  bool goes_by_tiles = false;      ///< alone in a pass: all outer indices of a tile, then those of the next
  std::optional<RowKind> kind;     ///< nothing where the stage only moves data
  bool is_backward = false;        ///< from the spectrum to points
  bool turns_back = false;         ///< pencils are transformed back at once, with the user's function between
  bool is_last_transform = false;  ///< the one that multiplies by the factor of the run
  const LocalLibrary* library = nullptr;
  std::optional<PencilShape> there;  ///< what is planned, where there are pencils
  std::optional<PencilShape> back;
  std::int64_t components = 1;     ///< of an element: fields that are interleaved
  std::int64_t after_bytes = 0;    ///< of an element after the transform
  std::int64_t before_points = 0;  ///< of a pencil, before the transform and after
  std::int64_t after_points = 0;
  End source;
  End sink;
};

/// Stages that run tile after tile in one sweep over an outer direction. With two stages, all tiles of the first and
/// then all of the second run for each outer index, joined by a plane in cache.
struct Pass {
  std::vector<Stage> stages;
};

/// The messages of one exchange, as this rank sees them.
struct ExchangePlan {
  std::vector<gas::Outgoing> outgoing;
  std::vector<gas::Incoming> incoming;
  std::size_t region = 0;       ///< which part of the segment it goes through
  bool is_into_arrays = false;  ///< it goes into the arrays that are the result instead, and ends the route
};

/// The memory of a thread for its tiles, in bytes.
struct ScratchNeed {
  std::uint64_t before = 0;  ///< a tile before its transform, where it is copied in
  std::uint64_t after = 0;   ///< a tile after it, where it is copied out
  std::uint64_t plane = 0;   ///< the plane of a joined pass
  std::uint64_t lent = 0;    ///< what transforms are lent
  std::uint64_t points = 0;  ///< points of the longest pencil, whose offsets are listed
  /// Makes room for all that the other needs.
  void cover(const ScratchNeed& other) noexcept;
};

/// A route on one rank.
struct Schedule {
  std::vector<Pass> passes;
  std::vector<ExchangePlan> exchanges;
  std::vector<std::uint64_t> region_bytes;  ///< by region: what this rank receives there
  ScratchNeed scratch;                      ///< of a thread, with what transforms are lent by estimate
};

/// The stages of a schedule and the memory traffic of each.
std::vector<StagePlan> describe_stages(const Schedule& schedule);

/// Plans a route for `rank`. Local; every rank gets the same messages.
Schedule make_schedule(const Problem& problem, Direction direction, int rank);

}  // namespace penstock::fft

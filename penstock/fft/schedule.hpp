// The plan of a transform as data that is walked: passes of stages of tiles, and their moves.
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

/// What a tile is gathered from or scattered to.
enum class Place {
  user,      ///< the user's array
  exchange,  ///< what peers have written into this rank's segment; the messages to peers
  plane,     ///< a plane in the thread's cache, between two stages of one pass
};

/// One copy between a tile and a place. At outer index o its far end lies at `far_offset + (o - first) * far_stride`
/// bytes, where `first` is the first outer index of the section.
struct Move {
  mover::Mover mover;
  std::int64_t far_offset = 0;
  std::int64_t far_stride = 0;
  std::int64_t tile_offset = 0;
  std::size_t message = 0;  ///< a scatter into an exchange: the outgoing message that it is part of
};

/// Outer indices [first, end) whose tiles take part in the same messages; for each tile of an outer index its moves.
struct Section {
  std::int64_t first = 0;
  std::int64_t end = 0;
  std::size_t grain = 0;                        ///< of its end's grains, the one that it is a part of
  std::vector<std::vector<Move>> moves;         ///< by tile
  std::vector<std::vector<std::size_t>> needs;  ///< a source: by tile, the incoming messages that it lies in
};

/// Sections of a sink that together make messages complete.
struct Grain {
  std::int64_t tiles = 0;             ///< of all its sections
  std::vector<std::size_t> messages;  ///< the outgoing messages that these tiles make complete
};

/// One end of a stage.
struct End {
  Place place = Place::user;
  std::size_t exchange = 0;  ///< which one, where the place is one
  std::vector<Section> sections{};
  std::vector<Grain> grains{};  ///< of a sink
  /// Of a sink: outgoing messages that are sent once those of all grains are, in this order.
  std::vector<std::size_t> late_messages{};

  /// The number of the section that outer index `outer` lies in.
  std::size_t section_of(std::int64_t outer) const noexcept;
};

/// 1-D transforms along one direction of this rank's box. A tile is a fixed index in direction `outer`, some indices in
/// direction `across`, all in direction `along`; in cache it is rows along `along`.
struct Stage {
  std::size_t number = 0;  ///< in the order of the schedule's stages
  int outer = 0;
  int across = 0;
  int along = 0;
  Range outer_range{};
  std::int64_t along_lower = 0;     ///< where rows begin
  std::vector<Range> tiles;         ///< index ranges across
  std::optional<RowShape> shape;    ///< nothing where the stage only moves data
  std::optional<RowShape> back;     ///< where rows are transformed back at once, with the user's function between
  std::int64_t in_pitch_bytes = 0;  ///< from row to row of the tile, before the transform and after
  std::int64_t out_pitch_bytes = 0;
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
  std::size_t region = 0;  ///< which part of the segment it goes through
};

/// A route on one rank.
struct Schedule {
  std::vector<Pass> passes;
  std::vector<ExchangePlan> exchanges;
  std::vector<std::uint64_t> region_bytes;  ///< by region: what this rank receives there
  std::uint64_t tile_bytes = 0;             ///< scratch of a thread: one tile before and one after its transform
  std::uint64_t plane_bytes = 0;            ///< scratch of a thread: the plane of a joined pass
};

/// The stages of a schedule and the memory traffic of each.
std::vector<StagePlan> describe_stages(const Schedule& schedule);

/// Plans a route for `rank`. Local; every rank gets the same messages.
Schedule make_schedule(const Problem& problem, Way way, int rank);

}  // namespace penstock::fft

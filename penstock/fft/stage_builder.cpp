#include "penstock/fft/stage_builder.hpp"

#include <algorithm>
#include <utility>

#include "penstock/base/base.hpp"
#include "penstock/fft/direction_index.hpp"
#include "penstock/fft/pencil_transform.hpp"
#include "penstock/shape/shape.hpp"

namespace penstock::fft {
namespace {

/// The larger of the elements before and after the transform, which decides how wide tiles are.
std::int64_t element_bytes(const StageSpec& spec) {
  return std::max(spec.before.element_bytes, spec.after.element_bytes);
}

/// The bytes of a tile of this end's, of `rows` rows.
std::uint64_t tile_bytes(const End& end, std::int64_t rows) {
  return static_cast<std::uint64_t>(rows * end.pitch_bytes);
}

}  // namespace

Stage StageBuilder::stage(const StageSpec& spec) {
  Stage stage;
  stage.number = stages_++;
  stage.outer = spec.outer;
  stage.across = spec.across;
  stage.along = spec.along;
  stage.kind = spec.kind;
  stage.is_backward = spec.is_backward;
  stage.turns_back = spec.turns_back;
  stage.sink.is_sink = true;
  stage.components = problem_.components();
  stage.after_bytes = spec.after.element_bytes;
  if (spec.kind) {
    stage.library = find_library(problem_.options.local, *spec.kind, problem_.numbers(spec.along));
  }
  const Box& before = mine(spec.before.boxes);
  const Box& after = mine(spec.after.boxes);
  stage.along_lower = before.lower[at(spec.along)];
  stage.before_points = before.extent[at(spec.along)];
  stage.after_points = after.extent[at(spec.along)];
  const auto set_element = [](End& end, std::int64_t points, std::int64_t bytes) {
    end.element_bytes = bytes;
    end.pitch_bytes = shape::tile_pitch(points * bytes);
  };
  set_element(stage.source, stage.before_points, spec.before.element_bytes);
  if (spec.turns_back) {
    set_element(stage.sink, stage.before_points, spec.before.element_bytes);  // it ends where it began
  } else {
    set_element(stage.sink, stage.after_points, spec.after.element_bytes);
  }

  const std::int64_t width = shape::tile_rows(stage.source.pitch_bytes + stage.sink.pitch_bytes,
                                              problem_.machine.node.cache_l2_bytes, element_bytes(spec));
  stage.outer_range = {before.lower[at(spec.outer)], before.extent[at(spec.outer)]};
  const std::int64_t across_end = before.lower[at(spec.across)] + before.extent[at(spec.across)];
  for (std::int64_t lower = before.lower[at(spec.across)]; lower < across_end; lower += width) {
    stage.tiles.push_back({lower, std::min(width, across_end - lower)});
  }
  return stage;
}

void StageBuilder::resolve(Stage& stage) {
  const std::int64_t rows = stage.tiles.empty() || stage.outer_range.extent == 0 ? 0 : stage.tiles.front().extent;
  if (rows == 0) {
    return;
  }
  ScratchNeed need;
  need.before = stage.source.is_direct ? 0 : tile_bytes(stage.source, rows);
  need.after = stage.sink.is_direct ? 0 : tile_bytes(stage.sink, rows);
  need.points = static_cast<std::uint64_t>(std::max(stage.before_points, stage.after_points));
  if (stage.kind) {
    const std::int64_t length = problem_.options.size[at(stage.along)];
    const auto shape = [&](RowKind kind, const End& source, const End& destination, bool is_from_modes) {
      return PencilShape{.kind = kind,
                         .length = length,
                         .pencils = rows,
                         .source = source.spacing,
                         .destination = destination.spacing,
                         .source_stride = source.pitch_bytes,
                         .destination_stride = destination.pitch_bytes,
                         .instruction_set = problem_.options.instruction_set.value_or(best_instruction_set()),
                         .numbers = problem_.numbers(stage.along),
                         .modes = problem_.modes(stage.along),
                         .is_from_modes = is_from_modes,
                         .code = movers_.code};
    };
    if (stage.turns_back) {
      // The user's function takes rows: pencils are transformed into a tile, and from that on.
      const End rows_of_user{.pitch_bytes = shape::tile_pitch(stage.after_points * stage.after_bytes)};
      stage.there = shape(*stage.kind, stage.source, rows_of_user, stage.is_backward);
      stage.back = shape(traits_of(*stage.kind).inverse, rows_of_user, stage.sink, !stage.is_backward);
      need.after = tile_bytes(rows_of_user, rows);
      need.before = std::max(need.before, stage.sink.is_direct ? 0 : tile_bytes(stage.sink, rows));
    } else {
      stage.there = shape(*stage.kind, stage.source, stage.sink, stage.is_backward);
    }
    for (const auto& planned : {stage.there, stage.back}) {
      if (planned) {
        need.lent = std::max(need.lent, std::uint64_t{scratch_bytes(*stage.library, *planned, problem_.real_bytes)});
      }
    }
  }
  schedule_.scratch.cover(need);
}

void StageBuilder::add_pass(std::vector<Stage> stages) {
  schedule_.passes.push_back({.stages = std::move(stages)});
}

void StageBuilder::from_user(Stage& stage, const Distribution& part) {
  stage.source.place = Place::user;
  stage.source.sections = make_sections(stage, {});
  const Flow flow{.block = Block::of_array(part, stage.source.element_bytes)};
  connect(stage, stage.source, {&flow, 1}, mover::Hint::from_memory, movers_);
  // Where tiles lie farther apart in the user's array than outer indices, fewer pages are in use at a time.
  stage.goes_by_tiles = part.order[0] == stage.across;
}

void StageBuilder::to_user(Stage& stage, const Distribution& part) {
  stage.sink.place = Place::user;
  stage.sink.sections = make_sections(stage, {});
  stage.sink.groups = make_groups(stage, 0);
  const Flow flow{.block = Block::of_array(part, stage.sink.element_bytes)};
  connect(stage, stage.sink, {&flow, 1}, problem_.hint, movers_);
}

void StageBuilder::from_exchange(Stage& stage) {
  stage.source.place = Place::exchange;
  stage.source.exchange = schedule_.exchanges.size() - 1;
  std::vector<std::int64_t> firsts;
  for (const Flow& flow : flows_.incoming) {
    add_firsts(firsts, stage, flow.block);
  }
  stage.source.sections = make_sections(stage, std::move(firsts));
  connect(stage, stage.source, flows_.incoming, mover::Hint::from_memory, movers_);
}

/// Which direction lies innermost between two stages: a sender has one index of its outer direction at a time and a
/// receiver one of its own, so that it is neither. Of the others the one that is contiguous in the user's array, so
/// that its own stage meets contiguous pencils at both ends, and the other stages adjacent ones.
int StageBuilder::innermost_between(const StageSpec& from, const StageSpec& to) const {
  const int of_user = problem_.input.front().order[2];
  for (const int direction : {of_user, from.across, from.along}) {
    if (direction != from.outer && direction != to.outer) {
      return direction;
    }
  }
  PENSTOCK_ASSERT(false);
  return of_user;
}

// An exchange is stored in the order in which its reader walks it. Where pencils are adjacent for both sides it is
// strips as wide as tiles are, so that a tile of the reader's is contiguous.
void StageBuilder::to_exchange(Stage& stage, const StageSpec& from, const StageSpec& to) {
  const Tuning& tuning = problem_.tuning;
  const int innermost = innermost_between(from, to);
  const bool are_rows = innermost == to.along;
  FlowShape shape{.order = {to.outer, are_rows ? to.across : to.along, innermost},
                  .cut = from.outer,
                  .planes_per_message = tuning.planes_per_message,
                  // Where both walk the same planes, they arrive in the order in which they are read.
                  .deferred_parts = from.outer == to.outer ? 0 : tuning.deferred_parts,
                  .strip = are_rows || innermost == from.along ? 0 : shape::tile_chunk(element_bytes(to)),
                  .element_bytes = from.result().element_bytes};
  flows_ = make_flows(from.result().boxes, to.before.boxes, shape, rank_);
  schedule_.exchanges.push_back({.outgoing = flows_.outgoing_messages,
                                 .incoming = flows_.incoming_messages,
                                 .region = schedule_.region_bytes.size()});
  schedule_.region_bytes.push_back(static_cast<std::uint64_t>(flows_.received_bytes));
  connect_to_exchange(stage, tuning.planes_per_message, hint_of_messages());
}

void StageBuilder::to_peers(Stage& stage, const StageSpec& from, const std::vector<Distribution>& parts) {
  flows_ = make_flows_into_arrays(from.result().boxes, parts, from.result().element_bytes, rank_);
  schedule_.exchanges.push_back(
      {.outgoing = flows_.outgoing_messages, .incoming = flows_.incoming_messages, .is_into_arrays = true});
  for (const gas::Outgoing& message : flows_.outgoing_messages) {
    stage.sink.field_strides.push_back(problem_.field_bytes(message.peer));
  }
  connect_to_exchange(stage, 0, problem_.hint);
}

/// Connects the stage's sink with the messages of the exchange added last, which go after `planes` planes each (0: all
/// of them).
void StageBuilder::connect_to_exchange(Stage& stage, std::int64_t planes, mover::Hint hint) {
  stage.sink.place = Place::exchange;
  stage.sink.exchange = schedule_.exchanges.size() - 1;
  std::vector<std::int64_t> firsts;
  stage.goes_by_tiles = stage.goes_by_tiles && planes == 0;  // a message is of outer indices
  for (std::int64_t first = planes; planes > 0 && first < stage.outer_range.extent; first += planes) {
    firsts.push_back(stage.outer_range.lower + first);
  }
  for (const Flow& flow : flows_.outgoing) {
    add_firsts(firsts, stage, flow.block);
  }
  stage.sink.sections = make_sections(stage, std::move(firsts));
  stage.sink.groups = make_groups(stage, planes);
  for (const Flow& flow : flows_.outgoing) {
    for (std::int64_t message = 0; message < flow.block.messages(); ++message) {
      const auto index = static_cast<std::size_t>(message);
      auto& messages =
          flow.part > 0 ? stage.sink.deferred_messages : stage.sink.groups[flow.first_group + index].messages;
      messages.push_back(flow.first_message + index);
    }
  }
  connect(stage, stage.sink, flows_.outgoing, hint, movers_);
}

/// How the messages of the exchange added last are written: what is sent from buffers that fit into the cache is read
/// there.
mover::Hint StageBuilder::hint_of_messages() const {
  std::size_t buffer_bytes = 0;
  for (const gas::Outgoing& message : flows_.outgoing_messages) {
    buffer_bytes += message.wave < gas::waves_at_once ? message.bytes : 0;
  }
  const auto cache_bytes = static_cast<std::size_t>(problem_.machine.node.cache_bytes);
  return problem_.has_far_peers && buffer_bytes <= cache_bytes / 2 ? mover::Hint::reuse : problem_.hint;
}

void StageBuilder::to_plane(Stage& stage, const StageSpec& from, const StageSpec& to) {
  // A stage between two planes has both in one place.
  if (stage.source.place != Place::plane) {
    const int innermost = innermost_between(from, to);
    const int other = innermost == from.along ? to.along : from.along;
    const Box& box = mine(from.result().boxes);
    plane_ = Block::packed(box, {from.outer, other, innermost}, from.result().element_bytes);
    plane_.pitch_bytes = shape::tile_pitch(plane_.pitch_bytes);
    schedule_.scratch.cover({.plane = static_cast<std::uint64_t>(box.extent[at(other)] * plane_.pitch_bytes)});
  }
  stage.sink.place = Place::plane;
  stage.sink.sections = make_sections(stage, {});
  const Flow flow{.block = plane_};
  connect(stage, stage.sink, {&flow, 1}, mover::Hint::reuse, movers_);
}

void StageBuilder::from_plane(Stage& stage) {
  stage.source.place = Place::plane;
  stage.source.sections = make_sections(stage, {});
  const Flow flow{.block = plane_};
  connect(stage, stage.source, {&flow, 1}, mover::Hint::reuse, movers_);
}

}  // namespace penstock::fft

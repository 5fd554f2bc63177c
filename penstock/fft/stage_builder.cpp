#include "penstock/fft/stage_builder.hpp"

#include <algorithm>
#include <utility>

#include "penstock/base/base.hpp"
#include "penstock/model/model.hpp"

namespace penstock::fft {
namespace {

std::size_t at(int direction) {
  return static_cast<std::size_t>(direction);
}

/// Has a stage transform its rows where `block`, which holds all of them, has them in memory: where they lie there one
/// after the other, and are transformed but once.
void read_rows_of(const Block& block, Stage& stage) {
  const bool are_rows = block.order[2] == stage.along && block.order[1] == stage.across && block.strip == 0 &&
                        (block.grain == 0 || block.cut == stage.outer);
  const bool keeps_input = stage.shape && !stage.back && stage.shape->kind != RowKind::complex_to_real;
  if (are_rows && keeps_input && block.pitch_bytes <= model::longest_row_in_memory &&
      block.pitch_bytes % static_cast<std::int64_t>(row_alignment) == 0) {
    stage.shape->is_in_memory = true;
    stage.in_pitch_bytes = block.pitch_bytes;
    stage.shape->in_pitch_bytes = block.pitch_bytes;
  }
}

/// The larger of the elements before and after the transform, which decides how wide tiles are.
std::int64_t element_bytes(const Stop& stop) {
  return std::max(stop.before.element_bytes, stop.after.element_bytes);
}

}  // namespace

Stage StageBuilder::stage(const Stop& stop) {
  Stage stage;
  stage.number = stages_++;
  stage.outer = stop.outer;
  stage.across = stop.across;
  stage.along = stop.along;
  const Box& before = mine(stop.before.boxes);
  const Box& after = mine(stop.after.boxes);
  stage.in_pitch_bytes = model::tile_pitch(before.extent[at(stop.along)] * stop.before.element_bytes);
  stage.out_pitch_bytes = model::tile_pitch(after.extent[at(stop.along)] * stop.after.element_bytes);
  stage.along_lower = before.lower[at(stop.along)];

  const std::int64_t width = model::tile_rows(stage.in_pitch_bytes + stage.out_pitch_bytes,
                                              problem_.options.machine.node.cache_l2_bytes, element_bytes(stop));
  stage.outer_range = {before.lower[at(stop.outer)], before.extent[at(stop.outer)]};
  const std::int64_t across_end = before.lower[at(stop.across)] + before.extent[at(stop.across)];
  for (std::int64_t lower = before.lower[at(stop.across)]; lower < across_end; lower += width) {
    stage.tiles.push_back({lower, std::min(width, across_end - lower)});
  }
  const std::int64_t rows = stage.tiles.empty() ? 0 : stage.tiles.front().extent;
  if (stop.kind) {
    stage.shape = RowShape{.kind = *stop.kind,
                           .length = problem_.options.size[at(stop.along)],
                           .rows = rows,
                           .in_pitch_bytes = stage.in_pitch_bytes,
                           .out_pitch_bytes = stage.out_pitch_bytes};
  }
  if (stop.turns_back) {
    PENSTOCK_ASSERT(stage.in_pitch_bytes == stage.out_pitch_bytes);  // the way back ends where the way there began
    stage.back = stage.shape;
    stage.back->kind = facts_of(*stop.kind).inverse;
  }
  schedule_.tile_bytes = std::max({schedule_.tile_bytes, static_cast<std::uint64_t>(rows * stage.in_pitch_bytes),
                                   static_cast<std::uint64_t>(rows * stage.out_pitch_bytes)});
  return stage;
}

void StageBuilder::add_pass(std::vector<Stage> stages) {
  schedule_.passes.push_back({.stages = std::move(stages)});
}

void StageBuilder::from_user(Stage& stage, const Distribution& part, const Stop& stop) {
  const Block block = Block::packed(part.box, part.order, stop.before.element_bytes);
  stage.source = {.place = Place::user, .sections = make_sections(stage, {})};
  read_rows_of(block, stage);
  add_moves(stage, true, {block}, mover::Hint::from_memory, movers_);
}

void StageBuilder::to_user(Stage& stage, const Distribution& part, const Stop& stop) {
  const Block block = Block::packed(part.box, part.order, stop.after.element_bytes);
  stage.sink = {.place = Place::user, .sections = make_sections(stage, {})};
  stage.sink.grains = make_grains(stage, 0);
  add_moves(stage, false, {block}, problem_.hint, movers_);
}

void StageBuilder::from_exchange(Stage& stage) {
  stage.source = {.place = Place::exchange, .exchange = schedule_.exchanges.size() - 1};
  std::vector<std::int64_t> firsts;
  for (const Flow& flow : flows_.incoming) {
    add_firsts(firsts, stage, flow.block);
  }
  stage.source.sections = make_sections(stage, std::move(firsts));
  if (flows_.incoming.size() == 1) {
    read_rows_of(flows_.incoming.front().block, stage);
  }
  for (const Flow& flow : flows_.incoming) {
    add_moves(stage, true, flow, mover::Hint::from_memory, movers_);
    add_needs(stage, flow);
  }
}

// Who transposes: an exchange is stored in the order in which its reader walks it, with one exception. A sender that
// has one index of the reader's direction at a time (forward y to z, and between x-pencils and z-pencils) leaves the
// transposition to the reader. It stores strips as wide as the reader's tiles, so that a tile is contiguous all the
// same.
void StageBuilder::to_exchange(Stage& stage, const Stop& from, const Stop& to) {
  FlowShape shape{.order = {to.outer, to.across, to.along},
                  .cut = from.outer,
                  .grain = problem_.grain,
                  // Where both walk the same planes, they arrive in the order in which they are read.
                  .late_eighths = from.outer == to.outer ? 0 : problem_.late_eighths,
                  .element_bytes = from.after.element_bytes};
  if (from.outer == to.along) {
    shape.order = {to.outer, to.along, to.across};
    shape.strip = model::tile_chunk_bytes / element_bytes(to);
  }
  flows_ = make_flows(from.after.boxes, to.before.boxes, shape, rank_);
  const std::size_t exchange = schedule_.exchanges.size();
  schedule_.exchanges.push_back(
      {.outgoing = flows_.outgoing_messages, .incoming = flows_.incoming_messages, .region = exchange});
  schedule_.region_bytes.push_back(static_cast<std::uint64_t>(flows_.received_bytes));

  stage.sink = {.place = Place::exchange, .exchange = exchange};
  std::vector<std::int64_t> firsts;
  for (std::int64_t first = problem_.grain; problem_.grain > 0 && first < stage.outer_range.extent;
       first += problem_.grain) {
    firsts.push_back(stage.outer_range.lower + first);
  }
  for (const Flow& flow : flows_.outgoing) {
    add_firsts(firsts, stage, flow.block);
  }
  stage.sink.sections = make_sections(stage, std::move(firsts));
  stage.sink.grains = make_grains(stage, problem_.grain);
  for (const Flow& flow : flows_.outgoing) {
    for (std::int64_t grain = 0; grain < flow.block.grains(); ++grain) {
      const auto index = static_cast<std::size_t>(grain);
      auto& messages = flow.part > 0 ? stage.sink.late_messages : stage.sink.grains[flow.first_grain + index].messages;
      messages.push_back(flow.first_message + index);
    }
    add_moves(stage, false, flow, problem_.hint, movers_);
  }
}

void StageBuilder::join(Stage& first, Stage& second, const Stop& from) {
  const Box& box = mine(from.after.boxes);
  Block plane = Block::packed(box, {first.outer, first.along, second.along}, from.after.element_bytes);
  plane.pitch_bytes = second.in_pitch_bytes;
  first.sink = {.place = Place::plane, .sections = make_sections(first, {})};
  add_moves(first, false, {plane}, mover::Hint::reuse, movers_);
  for (Section& section : first.sink.sections) {
    for (auto& moves : section.moves) {
      for (Move& move : moves) {
        move.far_stride = 0;  // every outer index uses the same plane
      }
    }
  }
  second.source = {.place = Place::plane};
  schedule_.plane_bytes = static_cast<std::uint64_t>(box.extent[at(first.along)] * plane.pitch_bytes);
}

}  // namespace penstock::fft

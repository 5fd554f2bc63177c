#include "penstock/fft/stage_builder.hpp"

#include <algorithm>
#include <utility>

namespace penstock::fft {
namespace {

std::size_t at(int direction) {
  return static_cast<std::size_t>(direction);
}

/// From row to row of a tile: whole cache lines, and one more, so that rows of a power of two do not share cache sets.
std::int64_t tile_pitch(std::int64_t row_bytes) {
  return (row_bytes + 63) / 64 * 64 + 64;
}

}  // namespace

Stage StageBuilder::stage(int outer, int across, int along, std::optional<RowKind> kind) {
  Stage stage;
  stage.number = stages_++;
  stage.outer = outer;
  stage.across = across;
  stage.along = along;
  const Box box = spectrum_.pencil(along, rank_);
  const bool is_real_end = along == 0 && kind && problem_.options.type == Type::r2c;
  const std::int64_t spectrum_row = box.extent[at(along)] * problem_.complex_bytes();
  const std::int64_t space_row =
      problem_.options.size[at(along)] * (is_real_end ? problem_.real_bytes : problem_.complex_bytes());
  stage.in_pitch_bytes = tile_pitch(is_forward_ && kind ? space_row : spectrum_row);
  stage.out_pitch_bytes = tile_pitch(is_forward_ || !kind ? spectrum_row : space_row);

  // Narrower than a chunk only where two tiles would not fit into half of the second-level cache.
  const std::int64_t pair_bytes = stage.in_pitch_bytes + stage.out_pitch_bytes;
  const auto cache_bytes = static_cast<std::int64_t>(problem_.options.machine.node.cache_l2_bytes);
  const std::int64_t width =
      std::clamp<std::int64_t>(cache_bytes / 2 / pair_bytes / 4 * 4, 4, chunk_bytes / problem_.complex_bytes());

  stage.outer_range = {box.lower[at(outer)], box.extent[at(outer)]};
  const std::int64_t across_end = box.lower[at(across)] + box.extent[at(across)];
  for (std::int64_t lower = box.lower[at(across)]; lower < across_end; lower += width) {
    stage.tiles.push_back({lower, std::min(width, across_end - lower)});
  }
  const std::int64_t rows = stage.tiles.empty() ? 0 : stage.tiles.front().extent;
  if (kind) {
    if (is_real_end) {
      kind = is_forward_ ? RowKind::real_to_complex : RowKind::complex_to_real;
    }
    stage.shape = RowShape{.kind = *kind,
                           .length = problem_.options.size[at(along)],
                           .rows = rows,
                           .in_pitch_bytes = stage.in_pitch_bytes,
                           .out_pitch_bytes = stage.out_pitch_bytes};
  }
  schedule_.tile_bytes = std::max({schedule_.tile_bytes, static_cast<std::uint64_t>(rows * stage.in_pitch_bytes),
                                   static_cast<std::uint64_t>(rows * stage.out_pitch_bytes)});
  return stage;
}

void StageBuilder::add_pass(Stage stage) {
  schedule_.passes.push_back({.stages = {std::move(stage)}});
}
void StageBuilder::add_pass(Stage first, Stage second) {
  schedule_.passes.push_back({.stages = {std::move(first), std::move(second)}});
}

Block StageBuilder::user_block(const Stage& stage, const std::array<int, 3>& order, bool is_source) const {
  const bool is_real = stage.shape && (is_source ? stage.shape->kind == RowKind::real_to_complex
                                                 : stage.shape->kind == RowKind::complex_to_real);
  const Decomposition& decomposition = is_real ? space_ : spectrum_;
  return Block::packed(decomposition.pencil(stage.along, rank_), order,
                       is_real ? problem_.real_bytes : problem_.complex_bytes());
}

void StageBuilder::from_user(Stage& stage, const std::array<int, 3>& order) {
  const Block block = user_block(stage, order, true);
  stage.source = {.place = Place::user, .sections = make_sections(stage, {stage.outer_range.lower})};
  add_moves(stage, true, {block, 0}, mover::Hint::from_memory, movers_);
}

void StageBuilder::to_user(Stage& stage, const std::array<int, 3>& order) {
  const Block block = user_block(stage, order, false);
  stage.sink = {.place = Place::user, .sections = make_sections(stage, {stage.outer_range.lower})};
  add_moves(stage, false, {block, 0}, problem_.hint, movers_);
}

void StageBuilder::from_exchange(Stage& stage) {
  stage.source = {.place = Place::exchange, .exchange = schedule_.exchanges.size() - 1, .sections = {}};
  // Sections begin where a message of some sender does, if messages are cut along the outer direction.
  std::vector<std::int64_t> firsts{stage.outer_range.lower};
  for (const Flow& flow : flows_.incoming) {
    if (flow.block.grain > 0 && flow.block.cut == stage.outer) {
      for (std::int64_t grain = 1; grain < flow.block.grains(); ++grain) {
        firsts.push_back(flow.block.box.lower[at(stage.outer)] + grain * flow.block.grain);
      }
    }
  }
  stage.source.sections = make_sections(stage, std::move(firsts));
  for (const Flow& flow : flows_.incoming) {
    add_moves(stage, true, flow, mover::Hint::from_memory, movers_);
    add_needs(stage, flow);
  }
}

void StageBuilder::to_exchange(Stage& stage, FlowShape shape) {
  shape.cut = stage.outer;
  shape.grain = problem_.grain;
  shape.element_bytes = problem_.complex_bytes();
  flows_ = make_flows(spectrum_, shape, rank_, ranks_);
  const std::size_t exchange = schedule_.exchanges.size();
  schedule_.exchanges.push_back(
      {.outgoing = flows_.outgoing_messages, .incoming = flows_.incoming_messages, .region = exchange});
  schedule_.region_bytes.push_back(static_cast<std::uint64_t>(flows_.received_bytes));

  stage.sink = {.place = Place::exchange, .exchange = exchange, .sections = {}};
  std::vector<std::int64_t> firsts;
  const std::int64_t grain = problem_.grain == 0 ? std::max<std::int64_t>(stage.outer_range.extent, 1) : problem_.grain;
  for (std::int64_t first = 0; first < stage.outer_range.extent; first += grain) {
    firsts.push_back(stage.outer_range.lower + first);
  }
  stage.sink.sections = make_sections(stage, std::move(firsts));
  for (const Flow& flow : flows_.outgoing) {
    for (std::size_t i = 0; i < stage.sink.sections.size(); ++i) {
      stage.sink.sections[i].messages.push_back(flow.first_message + i);
    }
    add_moves(stage, false, flow, problem_.hint, movers_);
  }
}

void StageBuilder::join(Stage& first, Stage& second) {
  const Box box = spectrum_.pencil(first.along, rank_);
  Block plane = Block::packed(box, {first.outer, first.along, second.along}, problem_.complex_bytes());
  plane.pitch_bytes = second.in_pitch_bytes;
  first.sink = {.place = Place::plane, .sections = make_sections(first, {first.outer_range.lower})};
  add_moves(first, false, {plane, 0}, mover::Hint::reuse, movers_);
  for (Section& section : first.sink.sections) {
    for (auto& moves : section.moves) {
      for (Move& move : moves) {
        move.far_stride = 0;  // every outer index uses the same plane
      }
    }
  }
  second.source = {.place = Place::plane, .sections = {}};
  schedule_.plane_bytes = static_cast<std::uint64_t>(box.extent[at(first.along)] * plane.pitch_bytes);
}

}  // namespace penstock::fft

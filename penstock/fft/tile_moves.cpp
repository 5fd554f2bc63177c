#include "penstock/fft/tile_moves.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace penstock::fft {
namespace {

std::size_t at(int direction) {
  return static_cast<std::size_t>(direction);
}

/// The part of `box` that tile `tile` at outer index `outer` holds. Rows are whole.
Box part_of_tile(const Stage& stage, std::int64_t outer, const Range& tile, Box within) {
  Box box = within;
  box.lower[at(stage.outer)] = outer;
  box.extent[at(stage.outer)] = 1;
  box.lower[at(stage.across)] = tile.lower;
  box.extent[at(stage.across)] = tile.extent;
  return intersect(within, box);
}

}  // namespace

void add_firsts(std::vector<std::int64_t>& firsts, const Stage& stage, const Block& block) {
  const Range& range = stage.outer_range;
  const auto add = [&](std::int64_t first) {
    if (first > range.lower && first < range.lower + range.extent) {
      firsts.push_back(first);
    }
  };
  const std::int64_t lower = block.box.lower[at(stage.outer)];
  add(lower);
  add(lower + block.box.extent[at(stage.outer)]);
  if (block.cut == stage.outer) {
    for (std::int64_t grain = 1; grain < block.grains(); ++grain) {
      add(block.grain_range(grain).lower);
    }
  }
}

std::vector<Section> make_sections(const Stage& stage, std::vector<std::int64_t> firsts) {
  std::vector<Section> sections;
  if (stage.outer_range.extent == 0) {
    return sections;
  }
  firsts.push_back(stage.outer_range.lower);
  std::sort(firsts.begin(), firsts.end());
  firsts.erase(std::unique(firsts.begin(), firsts.end()), firsts.end());
  for (std::size_t i = 0; i < firsts.size(); ++i) {
    const bool is_last = i + 1 == firsts.size();
    sections.push_back({.first = firsts[i],
                        .end = is_last ? stage.outer_range.lower + stage.outer_range.extent : firsts[i + 1],
                        .moves = std::vector<std::vector<Move>>(stage.tiles.size()),
                        .needs = std::vector<std::vector<std::size_t>>(stage.tiles.size())});
  }
  return sections;
}

std::vector<Grain> make_grains(Stage& stage, std::int64_t planes) {
  std::vector<Grain> grains;
  for (Section& section : stage.sink.sections) {
    section.grain = planes == 0 ? 0 : static_cast<std::size_t>((section.first - stage.outer_range.lower) / planes);
    grains.resize(section.grain + 1);
    grains[section.grain].tiles += (section.end - section.first) * static_cast<std::int64_t>(stage.tiles.size());
  }
  return grains;
}

void add_moves(Stage& stage, bool is_source, const Flow& flow, mover::Hint hint, TileMovers& movers) {
  const std::array<int, 3> tile_order{stage.outer, stage.across, stage.along};
  const Block& block = flow.block;
  const std::int64_t pitch = is_source ? stage.in_pitch_bytes : stage.out_pitch_bytes;
  for (Section& section : (is_source ? stage.source : stage.sink).sections) {
    for (std::size_t i = 0; i < stage.tiles.size(); ++i) {
      const Range& tile = stage.tiles[i];
      const Box common = part_of_tile(stage, section.first, tile, block.box);
      for (const Piece& piece : pieces_of(block, common)) {
        const Extents& extent = piece.box.extent;
        const std::array tile_levels{layout::Level{extent[at(stage.across)], pitch},
                                     layout::Level{extent[at(stage.along)], block.element_bytes}};
        const layout::Layout in_tile = layout::Layout::nest(0, tile_levels, block.element_bytes);
        const layout::Layout far = piece.layout(tile_order, block.element_bytes);
        Move move{.mover = is_source ? movers.compile(far, in_tile, hint) : movers.compile(in_tile, far, hint),
                  .far_offset = piece.offset_bytes,
                  .far_stride = piece.levels[at(stage.outer)].back().stride,
                  .tile_offset = (piece.box.lower[at(stage.across)] - tile.lower) * pitch +
                                 (piece.box.lower[at(stage.along)] - stage.along_lower) * block.element_bytes};
        if (!is_source && stage.sink.place == Place::exchange) {
          const std::int64_t grain = block.grain_of(section.first);
          move.message = flow.first_message + static_cast<std::size_t>(grain);
          move.far_offset -= block.offset_bytes + block.grain_offset(grain);  // from the message's own begin
        }
        section.moves[i].push_back(std::move(move));
      }
    }
  }
}

void add_needs(Stage& stage, const Flow& flow) {
  const Block& block = flow.block;
  for (Section& section : stage.source.sections) {
    for (std::size_t i = 0; i < stage.tiles.size(); ++i) {
      const Box common = part_of_tile(stage, section.first, stage.tiles[i], block.box);
      if (common.count() == 0) {
        continue;
      }
      const std::int64_t lower = common.lower[at(block.cut)];
      const std::int64_t last = block.grain_of(lower + common.extent[at(block.cut)] - 1);
      for (std::int64_t grain = block.grain_of(lower); grain <= last; ++grain) {
        section.needs[i].push_back(flow.first_message + static_cast<std::size_t>(grain));
      }
    }
  }
}

}  // namespace penstock::fft

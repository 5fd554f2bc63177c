#include "penstock/fft/tile_moves.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "penstock/fft/direction_index.hpp"

namespace penstock::fft {
namespace {

/// The part of `box` that tile `tile` at outer index `outer` holds. Rows are whole.
Box part_of_tile(const Stage& stage, std::int64_t outer, const Range& tile, Box within) {
  Box box = within;
  box.lower[at(stage.outer)] = outer;
  box.extent[at(stage.outer)] = 1;
  box.lower[at(stage.across)] = tile.lower;
  box.extent[at(stage.across)] = tile.extent;
  return intersect(within, box);
}

/// Calls `visit(section, tile, flow, piece)` for all that the blocks have of each tile at the first outer index of each
/// section.
template <class Visit>
void for_each_piece(const Stage& stage, End& end, std::span<const Flow> flows, Visit visit) {
  for (Section& section : end.sections) {
    for (std::size_t tile = 0; tile < stage.tiles.size(); ++tile) {
      for (const Flow& flow : flows) {
        const Box common = part_of_tile(stage, section.first, stage.tiles[tile], flow.block.box);
        for (const BlockPart& piece : parts_of_block(flow.block, common)) {
          visit(section, tile, flow, piece);
        }
      }
    }
  }
}

/// Whether the pencils of each tile lie at one stride, in all blocks alike.
bool lie_at_strides(const Stage& stage, End& end, std::span<const Flow> flows) {
  bool do_all = true;
  const Section* section_before = nullptr;
  std::size_t tile_before = 0;
  std::int64_t stride = 0;
  for_each_piece(stage, end, flows, [&](const Section& section, std::size_t tile, const Flow&, const BlockPart& piece) {
    const std::vector<layout::Level>& across = piece.levels[at(stage.across)];
    const bool is_first = section_before != &section || tile_before != tile;
    do_all &= across.size() == 1 && across[0].extent == stage.tiles[tile].extent &&
              (is_first || across[0].extent == 1 || across[0].stride == stride);
    section_before = &section;
    tile_before = tile;
    stride = across[0].stride;
  });
  return do_all;
}

/// Where a piece lies.
Far far_of(const Stage& stage, const End& end, const Section& section, const Flow& flow, const BlockPart& piece) {
  Far far{.offset = piece.offset_bytes, .stride = piece.levels[at(stage.outer)].back().stride};
  if (end.is_sink && end.place == Place::exchange) {
    const Block& block = flow.block;
    const std::int64_t message = block.message_of(section.first);
    far.message = flow.first_message + static_cast<std::size_t>(message);
    far.offset -= block.offset_bytes + block.message_offset(message);  // from the message's own begin
  } else if (end.place == Place::plane) {
    far.stride = 0;  // every outer index uses the same plane
  }
  return far;
}

/// The points of a piece, which may be cut once.
void add_stretches(TileEnd& tile_end, const Far& far, const BlockPart& piece, const Stage& stage) {
  const std::vector<layout::Level>& along = piece.levels[at(stage.along)];
  const std::int64_t first_point = piece.box.lower[at(stage.along)] - stage.along_lower;
  const layout::Level& points = along.back();
  if (along.size() == 1 || points.extent == 1) {
    tile_end.stretches.push_back({far, first_point, along.front().extent, along.front().stride});
    return;
  }
  for (std::int64_t part = 0; part < along.front().extent; ++part) {
    const Far far_part{far.offset + part * along.front().stride, far.stride, far.message};
    tile_end.stretches.push_back({far_part, first_point + part * points.extent, points.extent, points.stride});
  }
}

void add_move(TileEnd& tile_end, const Far& far, const BlockPart& piece, const Stage& stage, const End& end,
              const Range& tile, mover::Hint hint, TileMovers& movers) {
  const Extents& extent = piece.box.extent;
  const std::array tile_levels{layout::Level{extent[at(stage.across)], end.pitch_bytes},
                               layout::Level{extent[at(stage.along)], end.element_bytes}};
  const layout::Layout in_tile = layout::Layout::nest(0, tile_levels, end.element_bytes);
  const layout::Layout there = piece.layout({stage.outer, stage.across, stage.along}, end.element_bytes);
  tile_end.moves.push_back(
      {.far = far,
       .mover = end.is_sink ? movers.compile(in_tile, there, hint) : movers.compile(there, in_tile, hint),
       .tile_offset = (piece.box.lower[at(stage.across)] - tile.lower) * end.pitch_bytes +
                      (piece.box.lower[at(stage.along)] - stage.along_lower) * end.element_bytes});
}

/// The messages that a piece lies in: of a sink one, as a tile has one index of the direction that is cut.
void add_messages(TileEnd& tile_end, const End& end, const Flow& flow, const Far& far, const BlockPart& piece) {
  if (end.place != Place::exchange) {
    return;
  }
  const auto add = [&](std::size_t message) {
    if (std::ranges::find(tile_end.messages, message) == tile_end.messages.end()) {
      tile_end.messages.push_back(message);
    }
  };
  if (end.is_sink) {
    add(far.message);
    return;
  }
  const Block& block = flow.block;
  const std::int64_t lower = piece.box.lower[at(block.cut)];
  const std::int64_t last = block.message_of(lower + piece.box.extent[at(block.cut)] - 1);
  for (std::int64_t message = block.message_of(lower); message <= last; ++message) {
    add(flow.first_message + static_cast<std::size_t>(message));
  }
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
    for (std::int64_t message = 1; message < block.messages(); ++message) {
      add(block.message_planes(message).lower);
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
                        .tiles = std::vector<TileEnd>(stage.tiles.size())});
  }
  return sections;
}

std::vector<MessageGroup> make_groups(Stage& stage, std::int64_t planes) {
  std::vector<MessageGroup> groups;
  for (Section& section : stage.sink.sections) {
    section.group = planes == 0 ? 0 : static_cast<std::size_t>((section.first - stage.outer_range.lower) / planes);
    groups.resize(section.group + 1);
    groups[section.group].tiles += (section.end - section.first) * static_cast<std::int64_t>(stage.tiles.size());
  }
  return groups;
}

void connect(const Stage& stage, End& end, std::span<const Flow> flows, mover::Hint hint, TileMovers& movers) {
  end.may_stream = end.is_sink && hint == mover::Hint::streaming;
  end.is_direct = stage.library != nullptr && stage.library->takes_any_places && lie_at_strides(stage, end, flows);
  bool are_adjacent = end.is_direct;
  bool are_contiguous = true;
  bool are_alone = true;
  for_each_piece(stage, end, flows, [&](Section& section, std::size_t tile, const Flow& flow, const BlockPart& piece) {
    TileEnd& tile_end = section.tiles[tile];
    tile_end.bytes += piece.box.count() * end.element_bytes;
    const Far far = far_of(stage, end, section, flow, piece);
    add_messages(tile_end, end, flow, far, piece);
    if (end.is_direct) {
      add_stretches(tile_end, far, piece, stage);
      const bool is_one = stage.tiles[tile].extent == 1;
      tile_end.pencil_stride = is_one ? end.element_bytes : piece.levels[at(stage.across)].front().stride;
      are_alone &= is_one;
      are_adjacent &= tile_end.pencil_stride == end.element_bytes;
      are_contiguous &= tile_end.stretches.size() == 1 && tile_end.stretches[0].point_stride == end.element_bytes;
    } else {
      add_move(tile_end, far, piece, stage, end, stage.tiles[tile], hint, movers);
    }
  });
  // A pencil alone is both, and vectors along it are full.
  are_adjacent &= !(are_alone && are_contiguous);
  end.spacing = are_adjacent ? Spacing::adjacent : are_contiguous ? Spacing::contiguous : Spacing::apart;
}

}  // namespace penstock::fft

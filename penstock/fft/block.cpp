#include "penstock/fft/block.hpp"

#include <algorithm>

#include "penstock/base/base.hpp"

namespace penstock::fft {
namespace {

constexpr std::int64_t line_bytes = 64;

std::size_t at(int direction) {
  return static_cast<std::size_t>(direction);
}

std::int64_t round_up(std::int64_t value, std::int64_t unit) {
  return (value + unit - 1) / unit * unit;
}

/// Strides in bytes by direction, inside a grain of `planes` planes.
Extents strides_of(const Block& block, std::int64_t planes) {
  Extents extent = block.box.extent;
  if (block.grain > 0) {
    extent[at(block.cut)] = planes;
  }
  Extents strides{};
  strides[at(block.order[2])] = block.element_bytes;
  strides[at(block.order[1])] = block.pitch_bytes;
  strides[at(block.order[0])] = block.pitch_bytes * extent[at(block.order[1])];
  return strides;
}

/// The piece made of the planes [lower, lower + extent) along the cut, all inside grain `index`.
Piece piece_in_grain(const Block& block, Box box, std::int64_t index, std::int64_t lower, std::int64_t extent) {
  const std::int64_t begin = block.box.lower[at(block.cut)] + index * block.grain;
  const std::int64_t end = block.box.lower[at(block.cut)] + block.box.extent[at(block.cut)];
  box.lower[at(block.cut)] = lower;
  box.extent[at(block.cut)] = extent;
  const Extents strides = strides_of(block, std::min(block.grain, end - begin));
  Piece piece{.box = box, .offset_bytes = block.offset_bytes + block.grain_offset(index), .levels = {}};
  for (std::size_t d = 0; d < 3; ++d) {
    const std::int64_t first = d == at(block.cut) ? begin : block.box.lower[d];
    piece.offset_bytes += (box.lower[d] - first) * strides[d];
    piece.levels[d] = {{box.extent[d], strides[d]}};
  }
  return piece;
}

}  // namespace

Block Block::packed(const Box& box, std::array<int, 3> order, std::int64_t element_bytes) {
  return {.box = box,
          .order = order,
          .element_bytes = element_bytes,
          .pitch_bytes = box.extent[at(order[2])] * element_bytes};
}

Block Block::aligned(const Box& box, std::array<int, 3> order, std::int64_t element_bytes, int cut,
                     std::int64_t grain) {
  Block block = packed(box, order, element_bytes);
  PENSTOCK_ASSERT(cut != order[2]);  // the innermost rows are the same in every grain
  // Short rows are left as they are: padding would cost more than an eighth.
  if (block.pitch_bytes >= 8 * line_bytes) {
    block.pitch_bytes = round_up(block.pitch_bytes, line_bytes);
  }
  block.cut = cut;
  block.grain = grain;
  return block;
}

std::int64_t Block::grains() const noexcept {
  const std::int64_t planes = box.extent[at(cut)];
  return grain == 0 ? 1 : (planes + grain - 1) / grain;
}

std::int64_t Block::grain_offset(std::int64_t index) const noexcept {
  const std::int64_t planes = box.extent[at(cut)];
  const std::int64_t bytes = box.extent[at(order[0])] * box.extent[at(order[1])] * pitch_bytes;
  if (planes == 0 || grain == 0) {
    return index * bytes;
  }
  return bytes / planes * std::min(index * grain, planes);
}

layout::Layout Piece::layout(const std::array<int, 3>& order, std::int64_t element_bytes) const {
  std::vector<layout::Level> nest;
  for (const int direction : order) {
    nest.insert(nest.end(), levels[at(direction)].begin(), levels[at(direction)].end());
  }
  return layout::Layout::nest(0, nest, element_bytes);
}

std::vector<Piece> pieces_of(const Block& block, const Box& box) {
  if (box.count() == 0) {
    return {};
  }
  if (block.grain == 0) {
    Block whole = block;
    whole.grain = block.box.extent[at(block.cut)];
    return {piece_in_grain(whole, box, 0, box.lower[at(block.cut)], box.extent[at(block.cut)])};
  }
  std::vector<Piece> pieces;
  const std::int64_t first = block.box.lower[at(block.cut)];
  const std::int64_t end = box.lower[at(block.cut)] + box.extent[at(block.cut)];
  for (std::int64_t lower = box.lower[at(block.cut)]; lower < end;) {
    const std::int64_t index = (lower - first) / block.grain;
    const std::int64_t begin = first + index * block.grain;
    const std::int64_t whole_grains = lower == begin ? (end - begin) / block.grain : 0;
    if (whole_grains > 1) {
      // Many whole grains: one loop over the grains around the loop inside a grain.
      Piece piece = piece_in_grain(block, box, index, lower, block.grain);
      piece.box.extent[at(block.cut)] = whole_grains * block.grain;
      const std::int64_t grain_bytes = block.grain_offset(1);
      auto& levels = piece.levels[at(block.cut)];
      levels.insert(levels.begin(), {whole_grains, grain_bytes});
      pieces.push_back(piece);
      lower += whole_grains * block.grain;
    } else {
      const std::int64_t upper = std::min(begin + block.grain, end);
      pieces.push_back(piece_in_grain(block, box, index, lower, upper - lower));
      lower = upper;
    }
  }
  return pieces;
}

}  // namespace penstock::fft

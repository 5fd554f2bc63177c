#include "penstock/fft/block.hpp"

#include <algorithm>

#include "penstock/base/base.hpp"
#include "penstock/fft/direction_index.hpp"
#include "penstock/shape/shape.hpp"

namespace penstock::fft {
namespace {

/// Some of the indices along a direction that is cut into equal parts (the first and last may be shorter): `extent` of
/// them from `lower` on in each of `parts` parts, the first of which is part `index`.
struct Cut {
  std::int64_t index;
  std::int64_t parts;
  std::int64_t lower;
  std::int64_t extent;
};

/// The indices [lower, end) where parts of `length` begin at `first`: the rest of a part, whole parts, the begin of
/// one.
std::vector<Cut> cuts_of(std::int64_t lower, std::int64_t end, std::int64_t first, std::int64_t length) {
  std::vector<Cut> cuts;
  while (lower < end) {
    const std::int64_t index = (lower - first) / length;
    const std::int64_t begin = first + index * length;
    const std::int64_t parts = lower == begin ? std::max<std::int64_t>((end - begin) / length, 1) : 1;
    cuts.push_back({index, parts, lower, std::min(begin + length, end) - lower});
    lower = std::min(begin + parts * length, end);
  }
  return cuts;
}

/// What keeps indices `stride` bytes apart from sharing a set of a first-level cache, if they would: a chunk of a
/// tile's row. Those of short strides are few pages together, which the caches above hold.
std::int64_t gap_of(std::int64_t stride) {
  constexpr std::int64_t set_bytes = 4096;  // lines so far apart share a set
  constexpr std::int64_t min_stride = 64 << 10;
  const std::int64_t beside = stride % set_bytes;
  const bool shares = beside < shape::tile_chunk_bytes || beside > set_bytes - shape::tile_chunk_bytes;
  return shares && stride >= min_stride ? shape::tile_chunk_bytes : 0;
}

/// The piece that one cut along the messages and one along the strips have in common with `box`.
BlockPart part_of_block(const Block& block, Box box, const Cut& messages, const Cut& strips) {
  const std::size_t cut = at(block.cut);
  const std::size_t outermost = at(block.order[0]);
  const std::size_t middle = at(block.order[1]);
  const std::size_t innermost = at(block.order[2]);
  Extents extent = block.box.extent;  // of one message
  Extents first = block.box.lower;
  const Range planes = block.message_planes(messages.index);
  first[cut] = planes.lower;
  extent[cut] = planes.extent;
  const std::int64_t strip_offset = strips.index * block.strip_width();
  first[innermost] += strip_offset;

  // The last strip has the padding of the row.
  const std::int64_t rest_bytes = block.pitch_bytes - strip_offset * block.element_bytes;
  const bool is_last = strip_offset + block.strip_width() >= block.box.extent[innermost];
  const std::int64_t row_bytes = is_last ? rest_bytes : block.strip_width() * block.element_bytes;
  Extents strides{};
  strides[innermost] = block.element_bytes;
  strides[middle] = row_bytes;
  strides[outermost] = block.outermost_stride(planes.extent);

  box.lower[cut] = messages.lower;
  box.extent[cut] = messages.extent;
  box.lower[innermost] = strips.lower;
  box.extent[innermost] = strips.extent;
  BlockPart piece{.box = box,
                  .offset_bytes = block.offset_bytes + block.message_offset(messages.index) +
                                  strip_offset * block.element_bytes * extent[middle],
                  .levels = {}};
  for (std::size_t d = 0; d < 3; ++d) {
    piece.offset_bytes += (box.lower[d] - first[d]) * strides[d];
    piece.levels[d] = {{box.extent[d], strides[d]}};
  }
  // Many whole parts: one loop over the parts around the loop inside a part.
  const auto repeat = [&](std::size_t direction, const Cut& parts, std::int64_t stride) {
    if (parts.parts > 1) {
      piece.levels[direction].insert(piece.levels[direction].begin(), {parts.parts, stride});
      piece.box.extent[direction] = parts.parts * parts.extent;
    }
  };
  repeat(innermost, strips, row_bytes * extent[middle]);
  repeat(cut, messages, block.message_offset(messages.index + 1) - block.message_offset(messages.index));
  return piece;
}

}  // namespace

Block Block::of_array(const Distribution& part, std::int64_t element_bytes) {
  const Extents strides = part.strides();
  const std::int64_t number_bytes = element_bytes / part.components;
  Block block = packed(part.box, part.order, element_bytes);
  block.pitch_bytes = strides[at(part.order[1])] * number_bytes;
  block.gap_bytes = strides[at(part.order[0])] * number_bytes - part.box.extent[at(part.order[1])] * block.pitch_bytes;
  return block;
}

Block Block::part_of(const Box& within) const {
  PENSTOCK_ASSERT(planes_per_message == 0 && strip == 0);
  const std::int64_t stride = outermost_stride(box.extent[at(cut)]);
  const auto indices_before = [&](int direction) { return within.lower[at(direction)] - box.lower[at(direction)]; };
  Block part = *this;
  part.box = within;
  part.offset_bytes += indices_before(order[0]) * stride + indices_before(order[1]) * pitch_bytes +
                       indices_before(order[2]) * element_bytes;
  part.gap_bytes = stride - within.extent[at(order[1])] * pitch_bytes;
  return part;
}

Block Block::packed(const Box& box, std::array<int, 3> order, std::int64_t element_bytes) {
  return {.box = box,
          .order = order,
          .element_bytes = element_bytes,
          .pitch_bytes = box.extent[at(order[2])] * element_bytes};
}

Block Block::aligned(const Box& box, std::array<int, 3> order, std::int64_t element_bytes) {
  Block block = packed(box, order, element_bytes);
  // Short rows are left as they are: padding would cost more than an eighth.
  if (block.pitch_bytes >= 8 * cache_line_bytes) {
    block.pitch_bytes = round_up(block.pitch_bytes, cache_line_bytes);
  }
  return block;
}

void Block::cut_into_messages(int direction, std::int64_t planes, std::int64_t first) {
  PENSTOCK_ASSERT(direction != order[2]);  // the innermost rows are the same in every message
  cut = direction;
  planes_per_message = planes;
  const std::int64_t lower = box.lower[at(direction)];
  message_origin = planes == 0 ? lower : lower - (lower - first) % planes;
  gap_bytes = gap_of(outermost_stride(planes == 0 ? box.extent[at(direction)] : planes));
}

std::int64_t Block::outermost_stride(std::int64_t planes) const noexcept {
  const std::int64_t rows = order[1] == cut ? planes : box.extent[at(order[1])];
  return rows * pitch_bytes + gap_bytes;
}

std::int64_t Block::strip_width() const noexcept {
  return strip == 0 ? box.extent[at(order[2])] : strip;
}

std::int64_t Block::messages() const noexcept {
  const std::int64_t end = box.lower[at(cut)] + box.extent[at(cut)];
  return planes_per_message == 0 ? 1 : divide_up(end - message_origin, planes_per_message);
}

std::int64_t Block::message_of(std::int64_t index) const noexcept {
  return planes_per_message == 0 ? 0 : (index - message_origin) / planes_per_message;
}

Range Block::message_planes(std::int64_t message) const noexcept {
  const std::int64_t lower = box.lower[at(cut)];
  const std::int64_t extent = box.extent[at(cut)];
  if (planes_per_message == 0) {
    return {lower, extent};
  }
  const auto begin_of = [&](std::int64_t number) {
    return std::clamp(message_origin + number * planes_per_message, lower, lower + extent);
  };
  return {begin_of(message), begin_of(message + 1) - begin_of(message)};
}

std::int64_t Block::message_offset(std::int64_t message) const noexcept {
  const std::int64_t outermost = box.extent[at(order[0])];
  const std::int64_t planes = box.extent[at(cut)];
  if (planes_per_message == 0) {
    return message * outermost * outermost_stride(planes);
  }
  const std::int64_t planes_before = message_planes(message).lower - box.lower[at(cut)];
  if (order[0] == cut) {
    return planes_before * outermost_stride(planes);
  }
  return outermost * (planes_before * pitch_bytes + message * gap_bytes);
}

layout::Layout BlockPart::layout(const std::array<int, 3>& order, std::int64_t element_bytes) const {
  std::vector<layout::Level> nest;
  for (const int direction : order) {
    nest.insert(nest.end(), levels[at(direction)].begin(), levels[at(direction)].end());
  }
  return layout::Layout::nest(0, nest, element_bytes);
}

std::vector<BlockPart> parts_of_block(const Block& block, const Box& box) {
  if (box.count() == 0) {
    return {};
  }
  std::vector<BlockPart> pieces;
  const auto cuts_along = [&](int direction, std::int64_t first, std::int64_t length) {
    const std::int64_t lower = box.lower[at(direction)];
    return cuts_of(lower, lower + box.extent[at(direction)], first, length);
  };
  const int innermost = block.order[2];
  const bool is_cut = block.planes_per_message > 0;
  const std::int64_t origin = is_cut ? block.message_origin : block.box.lower[at(block.cut)];
  const std::int64_t planes = is_cut ? block.planes_per_message : block.box.extent[at(block.cut)];
  for (const Cut& messages : cuts_along(block.cut, origin, planes)) {
    for (const Cut& strips : cuts_along(innermost, block.box.lower[at(innermost)], block.strip_width())) {
      pieces.push_back(part_of_block(block, box, messages, strips));
    }
  }
  return pieces;
}

}  // namespace penstock::fft

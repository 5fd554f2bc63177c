// Blocks: how a box of the field lies in memory, in some order of the directions, perhaps cut into messages and strips.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "penstock/fft/decomposition.hpp"
#include "penstock/layout/layout.hpp"

namespace penstock::fft {

/// A box stored in `order` (slowest direction first).
///
/// Where `planes_per_message` > 0 the box is cut along direction `cut` into sub-boxes of so many planes, one after the
/// other in memory, each in `order`: so each is contiguous, and is a message. Messages begin at `message_origin` and
/// every `planes_per_message` planes from there on; the first and the last may have fewer.
///
/// Where `strip` > 0 the innermost direction is cut as well, inside the outermost: into strips of so many elements (the
/// last one may be narrower), [order[0]][strips][order[1]][strip], so that a tile of that width is contiguous.
struct Block {
  Box box;
  std::array<int, 3> order{};
  std::int64_t element_bytes = 0;
  std::int64_t pitch_bytes = 0;  ///< from one innermost row to the next, or of all strips of a row together
  std::int64_t gap_bytes = 0;    ///< behind all that an index along order[0] has in a message
  int cut = 0;
  std::int64_t planes_per_message = 0;  ///< 0: all
  std::int64_t message_origin = 0;      ///< an index along `cut`, at most `planes_per_message` - 1 before the box
  std::int64_t strip = 0;
  std::int64_t offset_bytes = 0;  ///< of the block from the base of its memory

  /// A user's array, as it lies; `element_bytes` are of all components of a point.
  static Block of_array(const Distribution& part, std::int64_t element_bytes);
  /// The part `within` of a block that is not cut, which lies in its box: where it lies in the block.
  Block part_of(const Box& within) const;
  /// A block without padding.
  static Block packed(const Box& box, std::array<int, 3> order, std::int64_t element_bytes);
  /// A block in rows of whole cache lines where that costs little, so that stores can bypass the cache. Not yet cut.
  static Block aligned(const Box& box, std::array<int, 3> order, std::int64_t element_bytes);
  /// Cuts it as the planes from `first` on are cut, which its box is a part of. Message 0 is the first that has planes
  /// of the box. Gaps keep what lies at one place of each index along order[0] from sharing a set of the cache.
  void cut_into_messages(int direction, std::int64_t planes, std::int64_t first);

  std::int64_t messages() const noexcept;
  /// The message that index `index` along `cut` lies in.
  std::int64_t message_of(std::int64_t index) const noexcept;
  /// The indices along `cut` of a message.
  Range message_planes(std::int64_t message) const noexcept;
  /// Elements of a strip (but the last): all, where it is not cut.
  std::int64_t strip_width() const noexcept;
  /// Bytes from an index along order[0] to the next, in a message of `planes` planes.
  std::int64_t outermost_stride(std::int64_t planes) const noexcept;
  /// Bytes from the block's begin to that of a message, and of the whole block for messages().
  std::int64_t message_offset(std::int64_t message) const noexcept;
  std::int64_t bytes() const noexcept { return message_offset(messages()); }
};

/// A part of a block that loops can describe: where it begins, and the loops of each direction.
struct BlockPart {
  Box box;
  std::int64_t offset_bytes = 0;
  std::array<std::vector<layout::Level>, 3> levels;  ///< by direction, outermost first

  /// The bytes in the order `order` of the directions, relative to the piece's begin.
  layout::Layout layout(const std::array<int, 3>& order, std::int64_t element_bytes) const;
};

/// The part `box` of `block` as pieces: one where it is not cut; for each direction that is, at most three (what is
/// left of a message or strip that began before, whole ones, the begin of one that goes on).
std::vector<BlockPart> parts_of_block(const Block& block, const Box& box);

}  // namespace penstock::fft

// The common refinement of two layouts: one nest of loops that walks both at once. Private to the module.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "penstock/layout/layout.hpp"

namespace penstock::mover {

/// A loop of a copy: `extent` repetitions, so many bytes apart in the source and in the destination.
struct JointLevel {
  std::int64_t extent;
  std::int64_t source_stride;
  std::int64_t destination_stride;
};

/// Bytes that are contiguous in the source and in the destination.
struct Piece {
  std::int64_t source_offset;
  std::int64_t destination_offset;
  std::int64_t bytes;
};

/// A copy as loops around pieces. The order of loops and pieces is of no consequence.
struct Joint {
  std::vector<JointLevel> levels;
  std::vector<Piece> pieces;
};

/// The longest list of pieces that is worth its memory (24 bytes a piece).
inline constexpr std::int64_t most_pieces = std::int64_t{1} << 20;

/// The copy between two layouts of equally many bytes, at least one, as loops around as few pieces as the common
/// divisors of their extents allow. Without pieces where there would be more than `most_pieces`.
Joint refine(const layout::Layout& source, const layout::Layout& destination);

/// The same copy with ascending destination strides, without loops that are one with another loop or with the piece.
void simplify(Joint& joint);

/// Calls `move(source_offset, destination_offset, bytes)` for each piece among the first `bytes` bytes of the layouts,
/// until it returns false.
template <class Move>
void for_each_piece(const layout::Layout& source, const layout::Layout& destination, std::int64_t bytes, Move move) {
  layout::RunWalk from(source);
  layout::RunWalk to(destination);
  std::int64_t from_done = 0;
  std::int64_t to_done = 0;
  while (bytes > 0) {
    const layout::Run from_run = from.run();
    const layout::Run to_run = to.run();
    std::int64_t piece_bytes = from_run.bytes - from_done;
    piece_bytes = piece_bytes < to_run.bytes - to_done ? piece_bytes : to_run.bytes - to_done;
    piece_bytes = piece_bytes < bytes ? piece_bytes : bytes;
    if (!move(from_run.offset + from_done, to_run.offset + to_done, piece_bytes)) {
      return;
    }
    bytes -= piece_bytes;
    from_done += piece_bytes;
    to_done += piece_bytes;
    if (from_done == from_run.bytes) {
      from.next();
      from_done = 0;
    }
    if (to_done == to_run.bytes) {
      to.next();
      to_done = 0;
    }
  }
}

}  // namespace penstock::mover

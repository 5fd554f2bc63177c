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
inline constexpr std::int64_t max_pieces = std::int64_t{1} << 20;

/// The copy between two layouts of equally many bytes, at least one, as loops around as few pieces as the common
/// divisors of their extents allow. Without pieces where there would be more than `max_pieces`.
Joint refine(const layout::Layout& source, const layout::Layout& destination);

/// The same copy with ascending destination strides, without loops that are one with another loop or with the piece.
void simplify(Joint& joint);

}  // namespace penstock::mover

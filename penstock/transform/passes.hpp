// The passes that a transform is made of: one radix each, over vectors of pencils. Private to the module.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "penstock/transform/pencils.hpp"

namespace penstock::transform {

inline constexpr std::int64_t line_bytes = 64;  ///< of the cache
/// What a pass makes before it stores it past the cache, in a quarter of a first-level cache: memory takes lines that
/// follow one another faster than lines of one row and another in turn.
inline constexpr std::int64_t bytes_together = 8 << 10;

/// Memory that is brought into the cache while passes work on something else, some lines at each of their steps: rows
/// of lines, `line_stride` bytes from one to the next. A row begins at base + *offset; the next one `row_stride` bytes
/// behind it with the offset `offset_step` later.
struct Prefetch {
  const std::byte* base = nullptr;       ///< of the row that is being asked for
  const std::int64_t* offset = nullptr;  ///< the same
  const std::byte* next = nullptr;       ///< the line that is asked for next
  std::int64_t lines_left = 0;           ///< of this row
  std::int64_t rows_left = 0;            ///< this one among them
  std::int64_t lines = 0;                ///< of a row
  std::int64_t line_stride = 0;
  std::int64_t row_stride = 0;
  std::int64_t offset_step = 0;
  std::int64_t lines_at_once = 0;
};

/// What a pass works on. The work buffer has a row for each point: the real parts of a vector of pencils, their
/// imaginary parts, those of the next vector of pencils. Pointers and counts instead of spans, since the members of a
/// span are inline functions that a set's file would compile for its own processor and the linker might keep for all.
template <class Real>
struct PassWork {
  Pencils<const std::byte> source;  ///< of a first pass
  Pencils<std::byte> destination;   ///< of a last pass
  Real* work = nullptr;             ///< aligned to a vector
  std::int64_t pencils = 0;
  /// Of a row of the source (first), of the destination (last): the last vectors of a caller's may be filled in part.
  std::int64_t row_bytes = 0;
  std::int64_t stored_row_bytes = 0;     ///< of Rader's first points: of the destination
  const std::int32_t* blocks = nullptr;  ///< middle, last: where sub-transforms lie in the work buffer, in rows
  std::int64_t block_count = 0;
  /// Middle, last: those of the blocks that are worked on: from `block` on, `block_step` apart, up to `block_end`.
  std::int64_t block = 0;
  std::int64_t block_end = 0;
  std::int64_t block_step = 1;
  const std::int32_t* inner = nullptr;  ///< first, middle: where the butterflies of one lie, from there on
  std::int64_t inner_count = 0;
  std::int64_t leg_rows = 0;    ///< from leg to leg, in rows
  const Real* roots = nullptr;  ///< first, middle: for each butterfly of a sub-transform, on each leg but the first
  /// A complex factor for each row, or null: of the source (first), of the destination (last, Rader's first points).
  const Real* factors = nullptr;
  Real factor = 1;              ///< last: on all that is stored
  std::byte* sums = nullptr;    ///< of Rader's first points: the first row of sums, of the program's own
  std::int64_t sum_stride = 0;  ///< the same, in bytes
  Real sum_factor = 1;          ///< the same
  bool is_from_memory = false;  ///< first: its own rows are asked for ahead
  Prefetch* ahead = nullptr;    ///< first, middle, last: what is asked for meanwhile
  bool is_streaming = false;    ///< last: whole lines are stored past the cache
};

template <class Real>
using PassFunction = void (*)(const PassWork<Real>& pass) noexcept;

/// The passes of one radix. Where there are two, the first is from or to complex numbers of memory, the second from or
/// to rows of the program's own and real numbers.
template <class Real>
struct RadixPasses {
  int radix = 0;
  PassFunction<Real> first[2] = {};          ///< from the source to the work buffer
  PassFunction<Real> middle = nullptr;       ///< within the work buffer
  PassFunction<Real> last[2] = {};           ///< from the work buffer to the destination
  PassFunction<Real> first_apart = nullptr;  ///< from complex numbers whose pencils are apart
  PassFunction<Real> last_apart = nullptr;
};

/// The radices that there are passes of; those of rows, whose last pass is of a vector's lanes.
using Radices = std::index_sequence<1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 15, 16>;
using RowRadices = std::index_sequence<2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 15, 16>;

/// What a row pass works on: one pencil whose points follow one another.
template <class Real>
struct RowWork {
  const std::byte* source = nullptr;     ///< of a first pass
  std::byte* destination = nullptr;      ///< of a last pass
  Real* work = nullptr;                  ///< of all points, aligned to a vector
  const std::int32_t* blocks = nullptr;  ///< last: where vectors lie in the work buffer, in bytes, by what they give
  const std::int32_t* from = nullptr;    ///< ragged: places in the source and in the destination, in bytes
  const std::int32_t* to = nullptr;
  std::int64_t from_leg_bytes = 0;  ///< ragged: from leg to leg
  std::int64_t to_leg_bytes = 0;
  Real from_sign = 1;  ///< ragged: on imaginary parts
  Real to_sign = 1;
  std::int64_t block_count = 0;  ///< middle, last; ragged: vectors of butterflies
  std::int64_t inner_pairs = 0;  ///< first, middle: butterflies of a sub-transform, in vectors
  const Real* roots = nullptr;   ///< vectors, for each vector of butterflies one for each leg but the first; last: null
  Real factor = 1;               ///< last: on all that is stored
  const std::byte* ahead = nullptr;  ///< what is brought into the cache meanwhile, of so many bytes
  std::int64_t ahead_bytes = 0;
  std::int64_t ahead_bytes_at_once = 0;
  bool is_streaming = false;  ///< last: whole lines are stored past the cache
};

template <class Real>
using RowFunction = void (*)(const RowWork<Real>& pass) noexcept;

template <class Real>
struct RowPasses {
  int radix = 0;
  RowFunction<Real> first = nullptr;
  RowFunction<Real> first_backward = nullptr;
  RowFunction<Real> middle = nullptr;
  RowFunction<Real> ragged = nullptr;  ///< any pass of a length that is no multiple of a vector's, if there is one
};

/// The row passes over vectors of one length.
template <class Real>
struct RowTable {
  static constexpr int max_lanes = 16;

  int lanes = 0;  ///< numbers of a vector, and points of the last pass
  RowPasses<Real> radices[RowRadices::size()];
  RowFunction<Real> last = nullptr;
  RowFunction<Real> last_backward = nullptr;
  RowFunction<Real> untangle = nullptr;  ///< from the transform of half as many complex points to that of real ones
  RowFunction<Real> tangle = nullptr;    ///< the other way
  int point_of_lane[max_lanes] = {};     ///< which of a vector's points is in a lane while passes work
};

/// The passes of one set of instructions.
template <class Real>
struct PassTable {
  const char* name = nullptr;
  int lanes = 0;             ///< numbers of a vector
  int vector_registers = 0;  ///< that the processor has
  RadixPasses<Real> radices[Radices::size()];
  /// All points from pencils apart to adjacent ones in whole vectors, and the other way: complex numbers, real numbers.
  PassFunction<Real> gather[2] = {};
  PassFunction<Real> scatter[2] = {};
  RowTable<Real> rows[2];  ///< the longest vectors first; lanes 0 where there are no others
  /// Rader's first points: x is a row of the source, s its row of sums. The row of the destination becomes x + s, times
  /// the factors, that of sums x + sum_factor s; `inner_count` times. By the formats of source and destination, as in
  /// RadixPasses.
  PassFunction<Real> add_first[2][2] = {};
  /// Rows of the destination from two of the source each, the second ones behind all first ones, each times a complex
  /// factor: all planar. `factors` has both of a row, `inner_count` rows are made.
  PassFunction<Real> combine = nullptr;
  PassFunction<Real> untangle = nullptr;  ///< from the transform of pairs of real pencils to their spectra
  PassFunction<Real> tangle = nullptr;    ///< the other way
};

}  // namespace penstock::transform

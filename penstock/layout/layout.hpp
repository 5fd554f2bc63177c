// Describes which bytes, in what order: the common language of movers, transports and transforms.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace penstock::layout {

/// One loop of a layout: `extent` repetitions, `stride` bytes apart (any sign).
struct Level {
  std::int64_t extent;
  std::int64_t stride;
  bool operator==(const Level&) const = default;
};

/// A contiguous run of `bytes` bytes, `offset` bytes from the layout's origin.
struct Run {
  std::int64_t offset;
  std::int64_t bytes;
  bool operator==(const Run&) const = default;
};

/// An ordered list of bytes relative to an origin: the order in which they are packed and unpacked.
///
/// Every layout is held in its normal form: loops from outermost to innermost around a list of contiguous runs. Two
/// layouts compare equal exactly when they name the same bytes in the same order. An immutable value; thread-safe.
/// The constructors below throw Error for negative counts and for offsets that do not fit in 63 bits.
class Layout {
 public:
  /// No bytes at all.
  Layout() = default;

  /// `bytes` bytes, one after the other, from the origin.
  static Layout contiguous(std::int64_t bytes);

  /// `count` copies of `part`, copy i displaced by i * `stride` bytes.
  static Layout strided(std::int64_t count, std::int64_t stride, const Layout& part);

  /// The box of `extent` elements that begins at `start` in an array of `shape` elements in C order (last index
  /// fastest); the origin is the array's first element. The three spans are of equal length.
  static Layout subarray(std::span<const std::int64_t> shape, std::span<const std::int64_t> start,
                         std::span<const std::int64_t> extent, std::int64_t element_bytes);

  /// Loops `levels` from outermost to innermost around one element of `element_bytes` bytes at `offset`.
  static Layout nest(std::int64_t offset, std::span<const Level> levels, std::int64_t element_bytes);

  /// A copy of `part` at each of `offsets` (bytes), in that order.
  static Layout indexed(std::span<const std::int64_t> offsets, const Layout& part);

  /// The runs given, in that order.
  static Layout indexed(std::span<const Run> runs);

  /// This layout with its origin moved by `bytes`.
  Layout displaced(std::int64_t bytes) const;

  /// The number of bytes named.
  std::int64_t bytes() const noexcept { return bytes_; }
  /// The loops of the normal form, outermost first.
  std::span<const Level> levels() const noexcept { return levels_; }
  /// The runs inside the innermost loop, in order.
  std::span<const Run> runs() const noexcept { return runs_; }
  /// Whether the bytes are one contiguous run in ascending order (or there are none).
  bool is_contiguous() const noexcept { return levels_.empty() && runs_.size() <= 1; }
  /// The lowest offset named, and one past the highest; both 0 for an empty layout.
  std::int64_t lower_bound() const noexcept { return lower_bound_; }
  std::int64_t upper_bound() const noexcept { return upper_bound_; }

  bool operator==(const Layout&) const = default;
  /// A hash of the normal form, equal for equal layouts.
  std::size_t hash() const noexcept;

 private:
  std::vector<Level> levels_;
  std::vector<Run> runs_;
  std::int64_t bytes_ = 0;
  std::int64_t lower_bound_ = 0;
  std::int64_t upper_bound_ = 0;
};

}  // namespace penstock::layout

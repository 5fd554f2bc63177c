// Describes which bytes, in what order: the common language of movers, transports and transforms.
#pragma once

#include <array>
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
/// The constructors below throw Error for negative counts, for offsets beyond 2^62 in size, for 2^63 bytes and more,
/// and for lists without regularity of more than `most_runs` runs.
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

  /// The layouts given, one after the other in that order, all from the same origin.
  static Layout sequence(std::span<const Layout> parts);

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

  /// How many runs a layout may hold; what repeats with a constant stride is a level and costs no runs.
  static constexpr std::int64_t most_runs = std::int64_t{1} << 26;

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

/// Walks the runs of a layout in order, the loops unrolled. Refers to the layout, which must outlive it; allocates
/// nothing. Two runs in a row may touch where one repetition of a loop ends at the start of the next.
class RunWalk {
 public:
  explicit RunWalk(const Layout& layout) noexcept : levels_(layout.levels()), runs_(layout.runs()) {}

  /// Whether all runs have been seen.
  bool is_done() const noexcept { return run_ == runs_.size(); }
  /// The present run; not to be called when done.
  Run run() const noexcept { return {base_ + runs_[run_].offset, runs_[run_].bytes}; }
  /// Steps to the next run; not to be called when done.
  void next() noexcept;

 private:
  std::span<const Level> levels_;
  std::span<const Run> runs_;
  std::size_t run_ = 0;
  std::int64_t base_ = 0;
  // Each level repeats at least twice, so that the count of bytes bounds the number of levels.
  std::array<std::int64_t, 63> index_{};
};

}  // namespace penstock::layout

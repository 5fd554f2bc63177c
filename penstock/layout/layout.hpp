// A layout says which bytes, in what order: the common language of movers, transports and transforms.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "penstock/layout/shared_list.hpp"

#pragma GCC visibility push(default)

namespace penstock::layout {

/// One loop of a layout: `extent` repetitions, `stride` bytes apart (any sign).
struct Level {
  std::int64_t extent;
  std::int64_t stride;
  bool operator==(const Level&) const = default;

  /// Whether one more repetition would lie `distance` bytes from the first one, so that data there continue the loop.
  bool ends_at(std::int64_t distance) const noexcept {
    std::int64_t end = 0;
    return !__builtin_mul_overflow(extent, stride, &end) && end == distance;
  }
};

/// A contiguous run of `bytes` bytes, `offset` bytes from the layout's origin.
struct Run {
  std::int64_t offset;
  std::int64_t bytes;
  bool operator==(const Run&) const = default;
};

/// The loops and runs of a layout. Up to 4 loops and 1 run, enough for most arrays, lie in the layout itself.
using Levels = SharedList<Level, 4>;
using Runs = SharedList<Run, 1>;

/// An ordered list of bytes relative to an origin: the order in which they are packed and unpacked.
///
/// Every layout is held in its normal form: loops from outermost to innermost around a list of contiguous runs. A long
/// sequence of layouts that have loops of their own (the members of an MPI struct) is held as loops around a list of
/// parts. Two layouts compare equal exactly when they name the same bytes in the same order. An immutable value, cheap
/// to copy; thread-safe. The functions below that make layouts throw Error for negative counts, for offsets beyond 2^62
/// in absolute value, for 2^63 bytes and more, and for irregular lists of more than `max_runs` runs.
class Layout {
 public:
  /// No bytes at all.
  Layout() = default;

  /// `bytes` bytes, one after the other, from the origin.
  static Layout contiguous(std::int64_t bytes);

  /// `count` copies of `part`, copy i displaced by i * `stride` bytes.
  static Layout strided(std::int64_t count, std::int64_t stride, Layout part);

  /// The box of `extent` elements that begins at `start` in an array of `shape` elements in C order (last index
  /// fastest); the origin is the array's first element. Throws Error where the spans differ in length and where the box
  /// leaves the array.
  static Layout subarray(std::span<const std::int64_t> shape, std::span<const std::int64_t> start,
                         std::span<const std::int64_t> extent, std::int64_t element_bytes);

  /// The loops `levels`, from outermost to innermost, around one element of `element_bytes` bytes at `offset`.
  static Layout nest(std::int64_t offset, std::span<const Level> levels, std::int64_t element_bytes);

  /// A copy of `part` at each of `offsets` (bytes), in that order.
  static Layout indexed(std::span<const std::int64_t> offsets, const Layout& part);

  /// The bytes of `runs`, in that order.
  static Layout indexed(std::span<const Run> runs);
  /// As `indexed`, without a copy of the list.
  static Layout list(std::vector<Run> runs);

  /// The bytes of `parts`, one part after the other, all from the same origin.
  static Layout sequence(std::vector<Layout> parts);

  /// This layout with its origin moved by `bytes`.
  Layout displaced(std::int64_t bytes) const;

  /// The number of bytes named.
  std::int64_t bytes() const noexcept { return bytes_; }
  /// The loops of the normal form, outermost first.
  std::span<const Level> levels() const noexcept { return levels_.items(); }
  /// The runs inside the innermost loop, in order; none where there are parts.
  std::span<const Run> runs() const noexcept { return runs_.items(); }
  /// The parts inside the innermost loop, in order, each with at least one loop of its own or a long list of runs; none
  /// where there are runs.
  std::span<const Layout> parts() const noexcept;
  /// Whether the bytes are one contiguous run in ascending order (or there are none).
  bool is_contiguous() const noexcept { return parts_ == nullptr && levels().empty() && runs().size() <= 1; }
  /// The lowest offset named, and one past the highest; both 0 for an empty layout.
  std::int64_t lower_bound() const noexcept { return lower_bound_; }
  std::int64_t upper_bound() const noexcept { return upper_bound_; }

  /// The maximum number of runs that a layout holds. Repetition with a constant stride is a loop and costs no runs.
  static constexpr std::int64_t max_runs = std::int64_t{1} << 24;

  bool operator==(const Layout& other) const noexcept;
  /// Equal for equal layouts.
  std::size_t hash() const noexcept;

 private:
  Levels levels_;
  Runs runs_;
  std::shared_ptr<const std::vector<Layout>> parts_;
  std::int64_t bytes_ = 0;
  std::int64_t lower_bound_ = 0;
  std::int64_t upper_bound_ = 0;
};

inline std::span<const Layout> Layout::parts() const noexcept {
  return parts_ != nullptr ? std::span<const Layout>(*parts_) : std::span<const Layout>();
}

/// A layout as bytes, to be sent to a process on a processor of the same kind.
std::vector<std::byte> to_bytes(const Layout& layout);
/// The layout that `to_bytes` made into `bytes`. Throws Error for bytes that are no layout.
Layout layout_from(std::span<const std::byte> bytes);

/// Walks the runs of a layout in order, the loops unrolled. Refers to the layout, which must outlive the walk;
/// allocates nothing. Two successive runs may be adjacent: a repetition of a loop, or a part, may end where the next
/// one begins.
class RunWalk {
 public:
  explicit RunWalk(const Layout& layout) noexcept;

  /// Whether the walk is past the last run.
  bool is_done() const noexcept { return depth_ == 0; }
  /// The current run; not to be called when done.
  Run run() const noexcept {
    const Run& run = nodes_[depth_ - 1]->runs()[child_[depth_ - 1]];
    return {base_ + run.offset, run.bytes};
  }
  /// Steps to the next run; not to be called when done.
  void next() noexcept;

 private:
  // Each level repeats at least twice, so that the count of bytes, below 2^63, bounds the levels around a run to 62.
  // Every node on the path to a run, but for the outermost one, has a level or is a list.
  static constexpr std::size_t max_nodes = 66;

  void enter(const Layout& node) noexcept;

  std::array<const Layout*, max_nodes> nodes_;
  std::array<std::size_t, max_nodes> child_;
  std::array<std::int64_t, 63> index_;
  std::size_t depth_ = 0;         // of nodes_
  std::size_t levels_above_ = 0;  // of index_, with those of the current node
  std::int64_t base_ = 0;
};

/// Walks the first `bytes` bytes of both layouts and calls `move(source_offset, destination_offset, bytes)` for each
/// piece that is contiguous in both. Ends early when `move` returns false.
template <class Move>
void for_each_piece(const Layout& source, const Layout& destination, std::int64_t bytes, Move move) {
  RunWalk from(source);
  RunWalk to(destination);
  std::int64_t from_done = 0;
  std::int64_t to_done = 0;
  while (bytes > 0) {
    const Run from_run = from.run();
    const Run to_run = to.run();
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

}  // namespace penstock::layout

#pragma GCC visibility pop

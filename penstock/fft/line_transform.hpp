// Transforms of lines that lie anywhere in memory, in place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "penstock/fft/local_transform.hpp"
#include "penstock/npy/npy.hpp"

namespace penstock::fft {

/// Some points of each of a bundle of lines: point p of line l lies at offset + p * point_stride + l * line_stride. The
/// parts of a bundle follow one another along its lines, and have one line stride.
struct LinePart {
  std::int64_t offset = 0;  ///< all in bytes
  std::int64_t points = 0;
  std::int64_t point_stride = 0;
  std::int64_t line_stride = 0;
};

/// A transform of all lines of a bundle, in place. Immutable; `run` may be called by many threads at once.
class LineTransform {
 public:
  /// Of `lines` lines of `type`, complex64 or complex128. What is done is the same whenever this is made: nothing is
  /// measured.
  LineTransform(npy::DataType type, bool is_backward, const std::vector<LinePart>& parts, std::int64_t lines);

  /// The most memory that a thread lends to `run` for lines of so many points.
  static std::int64_t max_tile_bytes(npy::DataType type, std::int64_t points);
  /// The memory that a thread lends to `run`, aligned to a page.
  std::size_t tile_bytes() const noexcept { return transform_->scratch_bytes(); }
  /// Transforms the lines at `data`, and multiplies them by `factor`.
  void run(std::byte* data, double factor, std::span<std::byte> tile) const noexcept;

 private:
  std::vector<std::int64_t> offsets_;  // of each point of the first line
  std::int64_t lines_;
  std::int64_t line_stride_;
  std::int64_t width_ = 0;  // lines of a tile
  std::unique_ptr<LocalTransform> transform_;
};

}  // namespace penstock::fft

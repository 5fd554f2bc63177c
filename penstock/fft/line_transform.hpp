// Transforms of lines that lie anywhere in memory, gathered into cache and put back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "penstock/fft/local_transform.hpp"
#include "penstock/mover/mover.hpp"
#include "penstock/npy/npy.hpp"

namespace penstock::fft {

/// Some points of each of a bundle of lines: point p of line l lies at offset + p * point_stride + l * line_stride. The
/// parts of a bundle follow one another along its lines.
struct LinePart {
  std::int64_t offset = 0;  ///< all in bytes
  std::int64_t points = 0;
  std::int64_t point_stride = 0;
  std::int64_t line_stride = 0;
};

/// A transform of all lines of a bundle, in place. Immutable; `run` may be called by many threads at once.
class LineTransform {
 public:
  /// Of `lines` lines of `type`, complex64 or complex128. What FFTW does is the same whenever this is made: it measures
  /// nothing.
  LineTransform(npy::DataType type, bool is_backward, std::vector<LinePart> parts, std::int64_t lines);

  /// The most memory that a thread lends to `run` for lines of so many points.
  static std::int64_t most_tile_bytes(npy::DataType type, std::int64_t points) noexcept;
  /// The memory that a thread lends to `run`, aligned to a page.
  std::size_t tile_bytes() const noexcept { return static_cast<std::size_t>(2 * rows_ * pitch_); }
  /// Transforms the lines at `data`, and multiplies them by `factor`.
  void run(std::byte* data, double factor, std::span<std::byte> tile) const;

 private:
  struct Moves {
    mover::Mover gather;
    mover::Mover scatter;
  };
  std::vector<Moves> compile(std::int64_t lines) const;

  std::vector<LinePart> parts_;
  std::int64_t lines_;
  bool is_single_;
  std::int64_t element_bytes_;
  std::int64_t length_ = 0;   // points of a line
  std::int64_t pitch_ = 0;    // bytes from row to row of a tile
  std::int64_t rows_ = 0;     // lines of a tile
  std::vector<Moves> whole_;  // of a full tile, for each part
  std::vector<Moves> last_;   // of the last tile, where that is not full
  std::unique_ptr<LocalTransform> transform_;
};

}  // namespace penstock::fft

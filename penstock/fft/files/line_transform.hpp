// Transforms of bundles of lines that lie anywhere in memory, at strides.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "penstock/npy/npy.hpp"
#include "penstock/transform/transform.hpp"

namespace penstock::fft {

/// Some points of each of a bundle of lines: point p of line l lies at offset + p * point_stride + l * line_stride. The
/// parts of a bundle follow one another along its lines, and have one line stride.
struct LinePart {
  std::int64_t offset = 0;  ///< all in bytes
  std::int64_t points = 0;
  std::int64_t point_stride = 0;
  std::int64_t line_stride = 0;
};

/// What lines are transformed into.
struct LineShape {
  transform::Kind kind = transform::Kind::forward;
  npy::DataType type = npy::DataType::complex128;  ///< of their complex points: complex64 or complex128
  std::int64_t points = 0;                         ///< real ones, of real kinds
};

/// Of either precision.
using AnyTransform = std::variant<transform::Transform<float>, transform::Transform<double>>;

/// A transform of all lines of a bundle, from one place to another or in place. Immutable; `run` may be called by many
/// threads at once.
class LineTransform {
 public:
  /// Of `lines` lines. What is done is the same whenever this is made: nothing is measured.
  LineTransform(const LineShape& shape, const std::vector<LinePart>& source, const std::vector<LinePart>& destination,
                std::int64_t lines);

  /// The most memory that a thread lends to `run` for lines of this shape.
  static std::int64_t max_tile_bytes(const LineShape& shape);
  /// The memory that a thread lends to `run`, aligned to a page.
  std::size_t tile_bytes() const noexcept;
  /// Transforms the lines at `source` to `destination`, and multiplies them by `factor`.
  void run(const std::byte* source, std::byte* destination, double factor, std::span<std::byte> tile) const noexcept;

 private:
  /// The lines at one end.
  struct End {
    std::vector<std::int64_t> offsets;  // of each point of the first line
    std::int64_t line_stride = 0;
    transform::Spacing spacing = transform::Spacing::adjacent;
  };
  static End end_of(const std::vector<LinePart>& parts, std::int64_t element_bytes);

  std::int64_t lines_;
  End source_;
  End destination_;
  std::int64_t width_ = 0;  // lines of a tile
  AnyTransform transform_;
};

}  // namespace penstock::fft

// A tile of lines is gathered into rows, the rows are transformed, and the tile is put back where it came from.
#include "penstock/fft/line_transform.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "penstock/layout/layout.hpp"
#include "penstock/model/model.hpp"

namespace penstock::fft {
namespace {

template <class Real>
void scale(std::byte* rows, std::int64_t bytes, double factor) noexcept {
  auto* numbers = reinterpret_cast<Real*>(rows);
  for (std::int64_t i = 0; i < bytes / static_cast<std::int64_t>(sizeof(Real)); ++i) {
    numbers[i] *= static_cast<Real>(factor);
  }
}

std::int64_t most_rows(std::int64_t pitch, std::int64_t element_bytes) noexcept {
  // Not this machine's cache, so that tiles and with them roundings are the same everywhere: what all have at least.
  constexpr std::int64_t cache_l2_bytes = std::int64_t{1} << 18;
  return model::tile_rows(2 * pitch, cache_l2_bytes, element_bytes);
}

}  // namespace

std::int64_t LineTransform::most_tile_bytes(npy::DataType type, std::int64_t points) noexcept {
  const std::int64_t pitch = model::tile_pitch(points * npy::element_bytes(type));
  return 2 * pitch * most_rows(pitch, npy::element_bytes(type));
}

LineTransform::LineTransform(npy::DataType type, bool is_backward, std::vector<LinePart> parts, std::int64_t lines)
    : parts_(std::move(parts)),
      lines_(lines),
      is_single_(type == npy::DataType::complex64),
      element_bytes_(npy::element_bytes(type)) {
  for (const LinePart& part : parts_) {
    length_ += part.points;
  }
  pitch_ = model::tile_pitch(length_ * element_bytes_);
  rows_ = std::min(most_rows(pitch_, element_bytes_), lines_);
  whole_ = compile(rows_);
  if (const std::int64_t left = lines_ % rows_; left > 0) {
    last_ = compile(left);
  }
  const RowShape shape{.kind = is_backward ? RowKind::backward : RowKind::forward,
                       .length = length_,
                       .rows = rows_,
                       .in_pitch_bytes = pitch_,
                       .out_pitch_bytes = pitch_};
  transform_ =
      is_single_ ? plan_with_fftw<float>(shape, Effort::estimate) : plan_with_fftw<double>(shape, Effort::estimate);
}

std::vector<LineTransform::Moves> LineTransform::compile(std::int64_t lines) const {
  std::vector<Moves> moves;
  mover::Cache cache(16);  // parts are mostly alike
  for (const LinePart& part : parts_) {
    const std::array far_levels{layout::Level{lines, part.line_stride}, layout::Level{part.points, part.point_stride}};
    const std::array tile_levels{layout::Level{lines, pitch_}, layout::Level{part.points, element_bytes_}};
    const layout::Layout far = layout::Layout::nest(0, far_levels, element_bytes_);
    const layout::Layout tile = layout::Layout::nest(0, tile_levels, element_bytes_);
    moves.push_back(
        {.gather = cache.compile(far, tile, mover::Hint::from_memory), .scatter = cache.compile(tile, far)});
  }
  return moves;
}

void LineTransform::run(std::byte* data, double factor, std::span<std::byte> tile) const {
  std::byte* const in = tile.data();
  std::byte* const out = in + rows_ * pitch_;
  for (std::int64_t line = 0; line < lines_; line += rows_) {
    const std::int64_t rows = std::min(rows_, lines_ - line);
    const std::vector<Moves>& moves = rows == rows_ ? whole_ : last_;
    std::int64_t first = 0;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      const LinePart& part = parts_[i];
      moves[i].gather(data + part.offset + line * part.line_stride, in + first * element_bytes_);
      first += part.points;
    }
    transform_->run(in, out, rows);
    if (factor != 1) {
      is_single_ ? scale<float>(out, rows * pitch_, factor) : scale<double>(out, rows * pitch_, factor);
    }
    first = 0;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      const LinePart& part = parts_[i];
      moves[i].scatter(out + first * element_bytes_, data + part.offset + line * part.line_stride);
      first += part.points;
    }
  }
}

}  // namespace penstock::fft

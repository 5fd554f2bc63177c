// A tile of lines is transformed where it lies.
#include "penstock/fft/line_transform.hpp"

#include <algorithm>

#include "penstock/base/base.hpp"
#include "penstock/shape/shape.hpp"

namespace penstock::fft {
namespace {

std::int64_t max_width(npy::DataType type, std::int64_t points) noexcept {
  // Not this machine's cache, so that tiles are the same everywhere: half of what all have at least.
  constexpr std::int64_t cache_l2_bytes = std::int64_t{1} << 17;
  return shape::tile_rows(2 * points * npy::element_bytes(type), cache_l2_bytes, npy::element_bytes(type));
}

std::unique_ptr<LocalTransform> plan(npy::DataType type, const PencilShape& shape) {
  return find_library("", shape.kind)->plan(shape, npy::element_bytes(type) / 2, Effort::estimate);
}

}  // namespace

std::int64_t LineTransform::max_tile_bytes(npy::DataType type, std::int64_t points) {
  std::int64_t most = 0;
  for (const Spacing spacing : {Spacing::adjacent, Spacing::contiguous, Spacing::apart}) {
    const PencilShape shape{.length = points,
                            .pencils = max_width(type, points),
                            .source = spacing,
                            .destination = spacing,
                            .instruction_set = best_instruction_set()};
    most = std::max(most, static_cast<std::int64_t>(plan(type, shape)->scratch_bytes()));
  }
  return most;
}

LineTransform::LineTransform(npy::DataType type, bool is_backward, const std::vector<LinePart>& parts,
                             std::int64_t lines)
    : lines_(lines), line_stride_(parts.front().line_stride) {
  const std::int64_t element_bytes = npy::element_bytes(type);
  bool are_contiguous = true;
  for (const LinePart& part : parts) {
    PENSTOCK_ASSERT(part.line_stride == line_stride_);
    for (std::int64_t k = 0; k < part.points; ++k) {
      offsets_.push_back(part.offset + k * part.point_stride);
      are_contiguous &= offsets_.back() - offsets_.front() == (std::ssize(offsets_) - 1) * element_bytes;
    }
  }
  width_ = std::min(max_width(type, std::ssize(offsets_)), lines_);
  const Spacing spacing = line_stride_ == element_bytes ? Spacing::adjacent
                          : are_contiguous              ? Spacing::contiguous
                                                        : Spacing::apart;
  transform_ = plan(type, {.kind = is_backward ? RowKind::backward : RowKind::forward,
                           .length = std::ssize(offsets_),
                           .pencils = width_,
                           .source = spacing,
                           .destination = spacing,
                           .instruction_set = best_instruction_set()});
}

void LineTransform::run(std::byte* data, double factor, std::span<std::byte> tile) const noexcept {
  for (std::int64_t line = 0; line < lines_; line += width_) {
    std::byte* const base = data + line * line_stride_;
    transform_->run({base, offsets_.data(), line_stride_}, {base, offsets_.data(), line_stride_},
                    std::min(width_, lines_ - line), tile, factor, {.is_from_memory = true});
  }
}

}  // namespace penstock::fft

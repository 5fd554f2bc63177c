// A tile of lines is transformed where it lies.
#include "penstock/fft/files/line_transform.hpp"

#include <algorithm>

#include "penstock/base/base.hpp"
#include "penstock/shape/shape.hpp"

namespace penstock::fft {
namespace {

using transform::Spacing;

std::int64_t max_width(const LineShape& shape) noexcept {
  // Not this machine's cache, so that tiles are the same everywhere: half of what all have at least.
  constexpr std::int64_t cache_l2_bytes = std::int64_t{1} << 17;
  const std::int64_t element_bytes = npy::element_bytes(shape.type);
  return shape::tile_rows(2 * shape.points * element_bytes, cache_l2_bytes, element_bytes);
}

AnyTransform plan(const LineShape& shape, std::int64_t lines, Spacing source, Spacing destination) {
  const transform::Shape pencils{
      .length = shape.points, .kind = shape.kind, .source = source, .destination = destination, .pencils = lines};
  if (shape.type == npy::DataType::complex64) {
    return transform::Transform<float>(pencils);
  }
  return transform::Transform<double>(pencils);
}

std::size_t scratch_bytes(const AnyTransform& transform) {
  return std::visit([](const auto& of_type) { return of_type.scratch_bytes(); }, transform);
}

std::int64_t number_bytes(const LineShape& shape, bool is_real) noexcept {
  return npy::element_bytes(shape.type) / (is_real ? 2 : 1);
}

}  // namespace

std::int64_t LineTransform::max_tile_bytes(const LineShape& shape) {
  std::size_t most = 0;
  for (const Spacing spacing : {Spacing::adjacent, Spacing::contiguous, Spacing::apart}) {
    most = std::max(most, scratch_bytes(plan(shape, max_width(shape), spacing, spacing)));
  }
  return static_cast<std::int64_t>(most);
}

LineTransform::End LineTransform::end_of(const std::vector<LinePart>& parts, std::int64_t element_bytes) {
  End end;
  end.line_stride = parts.front().line_stride;
  bool are_contiguous = true;
  for (const LinePart& part : parts) {
    PENSTOCK_ASSERT(part.line_stride == end.line_stride);
    for (std::int64_t k = 0; k < part.points; ++k) {
      end.offsets.push_back(part.offset + k * part.point_stride);
      are_contiguous &= end.offsets.back() - end.offsets.front() == (std::ssize(end.offsets) - 1) * element_bytes;
    }
  }
  end.spacing = end.line_stride == element_bytes ? Spacing::adjacent
                : are_contiguous                 ? Spacing::contiguous
                                                 : Spacing::apart;
  return end;
}

LineTransform::LineTransform(const LineShape& shape, const std::vector<LinePart>& source,
                             const std::vector<LinePart>& destination, std::int64_t lines)
    : lines_(lines),
      source_(end_of(source, number_bytes(shape, shape.kind == transform::Kind::real_to_complex))),
      destination_(end_of(destination, number_bytes(shape, shape.kind == transform::Kind::complex_to_real))),
      width_(std::min(max_width(shape), lines)),
      transform_(plan(shape, width_, source_.spacing, destination_.spacing)) {}

std::size_t LineTransform::tile_bytes() const noexcept {
  return scratch_bytes(transform_);
}

void LineTransform::run(const std::byte* source, std::byte* destination, double factor,
                        std::span<std::byte> tile) const noexcept {
  const auto run_all = [&]<class Real>(const transform::Transform<Real>& transform) {
    for (std::int64_t line = 0; line < lines_; line += width_) {
      transform.run(
          {source + line * source_.line_stride, source_.offsets.data(), source_.line_stride},
          {destination + line * destination_.line_stride, destination_.offsets.data(), destination_.line_stride},
          std::min(width_, lines_ - line), tile, static_cast<Real>(factor), {.is_from_memory = true});
    }
  };
  std::visit(run_all, transform_);
}

}  // namespace penstock::fft

#include "penstock/fft/element_transform.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <utility>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/fft/streamed_copy.hpp"
#include "penstock/shape/shape.hpp"

namespace penstock::fft {
namespace {

using transform::Pencils;

/// Points of a pencil, and bytes of a number, at one end.
struct Numbers {
  std::int64_t points;
  std::int64_t bytes;
};

Numbers numbers_of(const PencilShape& shape, bool is_real, bool is_other_real, std::int64_t real_bytes) {
  const std::int64_t points = !is_real && is_other_real ? shape.length / 2 + 1 : shape.length;
  return {.points = points, .bytes = is_real ? real_bytes : 2 * real_bytes};
}

/// Copies `count` elements of `bytes` bytes.
template <std::int64_t bytes>
void copy_elements(std::byte* to, std::int64_t to_stride, const std::byte* from, std::int64_t from_stride,
                   std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    std::memcpy(to + i * to_stride, from + i * from_stride, bytes);
  }
}

/// How elements of so many bytes, a multiple of 4, are copied: by the largest piece of this many that fits.
struct Copier {
  std::int64_t bytes;

  void operator()(std::byte* to, std::int64_t to_stride, const std::byte* from, std::int64_t from_stride,
                  std::int64_t count) const {
    std::int64_t done = 0;
    const auto copy = [&]<std::int64_t piece>(std::integral_constant<std::int64_t, piece>) {
      for (; bytes - done >= piece; done += piece) {
        copy_elements<piece>(to + done, to_stride, from + done, from_stride, count);
      }
    };
    copy(std::integral_constant<std::int64_t, 64>{});
    copy(std::integral_constant<std::int64_t, 48>{});
    copy(std::integral_constant<std::int64_t, 32>{});
    copy(std::integral_constant<std::int64_t, 24>{});
    copy(std::integral_constant<std::int64_t, 16>{});
    copy(std::integral_constant<std::int64_t, 8>{});
    copy(std::integral_constant<std::int64_t, 4>{});
  }
};

// Vectors of a library's are of adjacent numbers: those of a row, which is one point of all pencils. An end that has no
// rows is copied to or from a tile in cache that has; unless the numbers of an element fill vectors by themselves, so
// that each pencil is transformed alone.
class ElementTransform final : public LocalTransform {
 public:
  ElementTransform(const LocalLibrary& library, const PencilShape& shape, std::int64_t real_bytes, Effort effort)
      : numbers_(shape.numbers),
        source_(
            numbers_of(shape, traits_of(shape.kind).has_real_input, traits_of(shape.kind).has_real_output, real_bytes)),
        destination_(
            numbers_of(shape, traits_of(shape.kind).has_real_output, traits_of(shape.kind).has_real_input, real_bytes)),
        is_from_contiguous_(shape.source == Spacing::contiguous),
        is_to_contiguous_(shape.destination == Spacing::contiguous) {
    constexpr std::int64_t vector_bytes = 64;
    const bool is_from_rows = shape.source == Spacing::adjacent;
    const bool is_to_rows = shape.destination == Spacing::adjacent;
    is_by_pencils_ = !is_from_rows && !is_to_rows && numbers_ * real_bytes >= vector_bytes;
    is_gathered_ = !is_from_rows && !is_by_pencils_;
    is_scattered_ = !is_to_rows && !is_by_pencils_;
    PencilShape rows = shape;
    rows.numbers = 1;
    rows.source = rows.destination = Spacing::adjacent;
    rows.pencils = is_by_pencils_ ? numbers_ : shape.pencils * numbers_;
    transform_ = library.plan(rows, real_bytes, effort);
    pitch_ = shape::tile_pitch(shape.pencils * numbers_ * std::max(source_.bytes, destination_.bytes));
    const std::int64_t points = is_gathered_ || is_scattered_ ? std::max(source_.points, destination_.points) : 0;
    for (std::int64_t k = 0; k < points; ++k) {
      tile_offsets_.push_back(k * pitch_);
    }
    // A transform between real and complex numbers needs two tiles.
    tile_bytes_ = points * pitch_;
    tiles_ = is_gathered_ && is_scattered_ && source_.bytes != destination_.bytes ? 2 : 1;
  }

  std::size_t scratch_bytes() const noexcept override {
    return transform_->scratch_bytes() + static_cast<std::size_t>(tiles_ * tile_bytes_);
  }

  void run(const Pencils<const std::byte>& source, const Pencils<std::byte>& destination, std::int64_t pencils,
           std::span<std::byte> scratch, double factor, transform::Access access) const noexcept override {
    if (is_by_pencils_) {
      access.next = nullptr;
      for (std::int64_t i = 0; i < pencils; ++i) {
        transform_->run({source.base + i * source.pencil_stride, source.offsets, source_.bytes},
                        {destination.base + i * destination.pencil_stride, destination.offsets, destination_.bytes},
                        numbers_, scratch, factor, access);
      }
      return;
    }
    Pencils<const std::byte> from{source.base, source.offsets, source_.bytes};
    Pencils<std::byte> to{destination.base, destination.offsets, destination_.bytes};
    Pencils<const std::byte> next;
    std::byte* const tile = scratch.data();
    std::byte* const other_tile = tile + (tiles_ - 1) * tile_bytes_;
    scratch = scratch.subspan(static_cast<std::size_t>(tiles_ * tile_bytes_));
    const bool is_streaming = access.is_streaming;
    if (is_gathered_) {
      gather(source, tile, pencils);
      from = {tile, tile_offsets_.data(), source_.bytes};
      access.is_from_memory = false;
      access.next = nullptr;
    } else if (access.next != nullptr) {
      next = {access.next->base, access.next->offsets, source_.bytes};
      access.next = &next;
      access.next_pencils *= numbers_;
    }
    if (is_scattered_) {
      to = {other_tile, tile_offsets_.data(), destination_.bytes};
      access.is_streaming = false;
    }
    transform_->run(from, to, pencils * numbers_, scratch, factor, access);
    if (is_scattered_) {
      scatter(other_tile, destination, pencils, is_streaming);
    }
  }

 private:
  void gather(const Pencils<const std::byte>& source, std::byte* tile, std::int64_t pencils) const noexcept {
    const Copier copy{numbers_ * source_.bytes};
    for (std::int64_t i = 0; i < pencils; ++i, tile += copy.bytes) {
      const std::byte* const pencil = source.base + i * source.pencil_stride;
      if (is_from_contiguous_) {
        copy(tile, pitch_, pencil, copy.bytes, source_.points);
        continue;
      }
      for (std::int64_t k = 0; k < source_.points; ++k) {
        copy(tile + k * pitch_, 0, pencil + source.offsets[k], 0, 1);
      }
    }
  }

  void scatter(const std::byte* tile, const Pencils<std::byte>& destination, std::int64_t pencils,
               bool may_stream) const noexcept {
    const Copier copy{numbers_ * destination_.bytes};
    for (std::int64_t i = 0; i < pencils; ++i, tile += copy.bytes) {
      std::byte* const pencil = destination.base + i * destination.pencil_stride;
      if (is_to_contiguous_) {
        for (std::int64_t k = 0; may_stream && k < destination_.points; ++k) {
          copy_bytes(pencil + k * copy.bytes, tile + k * pitch_, copy.bytes, true);
        }
        if (!may_stream) {
          copy(pencil, copy.bytes, tile, pitch_, destination_.points);
        }
        continue;
      }
      for (std::int64_t k = 0; k < destination_.points; ++k) {
        copy(pencil + destination.offsets[k], 0, tile + k * pitch_, 0, 1);
      }
    }
  }

  std::int64_t numbers_;  // of an element
  Numbers source_;
  Numbers destination_;
  bool is_from_contiguous_;
  bool is_to_contiguous_;
  bool is_by_pencils_;
  bool is_gathered_;
  bool is_scattered_;
  std::unique_ptr<LocalTransform> transform_;  // of single numbers
  std::int64_t pitch_;                         // of a tile's rows, in bytes
  std::vector<std::int64_t> tile_offsets_;
  std::int64_t tile_bytes_;
  std::int64_t tiles_;
};

}  // namespace

std::unique_ptr<LocalTransform> make_element_transform(const LocalLibrary& library, const PencilShape& shape,
                                                       std::int64_t real_bytes, Effort effort) {
  return std::make_unique<ElementTransform>(library, shape, real_bytes, effort);
}

}  // namespace penstock::fft

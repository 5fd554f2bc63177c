#include "penstock/fft/element_transform.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/layout/layout.hpp"
#include "penstock/mover/mover.hpp"
#include "penstock/shape/shape.hpp"

namespace penstock::fft {
namespace {

using transform::Pencils;

/// Copies numbers of a type to `to`, `stride` bytes apart, from or to the offsets of points.
template <class Number>
void gather_numbers(std::byte* to, const std::byte* from, const std::int64_t* offsets, std::int64_t points) {
  for (std::int64_t k = 0; k < points; ++k) {
    std::memcpy(to + k * std::int64_t{sizeof(Number)}, from + offsets[k], sizeof(Number));
  }
}
template <class Number>
void scatter_numbers(std::byte* to, const std::int64_t* offsets, const std::byte* from, std::int64_t points) {
  for (std::int64_t k = 0; k < points; ++k) {
    std::memcpy(to + offsets[k], from + k * std::int64_t{sizeof(Number)}, sizeof(Number));
  }
}

/// One end of pencils of elements, and the same pencils with each number in a row of its own.
class SplitPencils {
 public:
  SplitPencils(Spacing spacing, std::int64_t points, std::int64_t number_bytes, std::int64_t numbers, bool is_source,
               mover::Code code)
      : is_contiguous_(spacing == Spacing::contiguous),
        is_split_(spacing != Spacing::adjacent),
        points_(points),
        number_bytes_(number_bytes),
        numbers_(numbers),
        row_pitch_(shape::tile_pitch(points * number_bytes)) {
    if (!is_split_) {
      return;
    }
    for (std::int64_t k = 0; k < points; ++k) {
      row_offsets_.push_back(k * number_bytes);
    }
    const std::array in_elements{layout::Level{points, numbers * number_bytes}, layout::Level{numbers, number_bytes}};
    const std::array in_rows{layout::Level{points, number_bytes}, layout::Level{numbers, row_pitch_}};
    const auto elements = layout::Layout::nest(0, in_elements, number_bytes);
    const auto rows = layout::Layout::nest(0, in_rows, number_bytes);
    const auto compile = [&](mover::Hint hint) {
      return is_source ? mover::Mover::compile(elements, rows, hint, code)
                       : mover::Mover::compile(rows, elements, hint, code);
    };
    in_cache_ = compile(mover::Hint::reuse);
    in_memory_ = compile(is_source ? mover::Hint::from_memory : mover::Hint::streaming);
  }

  bool is_split() const noexcept { return is_split_; }
  Spacing spacing() const noexcept { return is_split_ ? Spacing::contiguous : Spacing::adjacent; }
  std::int64_t row_pitch() const noexcept { return row_pitch_; }
  std::int64_t number_bytes() const noexcept { return number_bytes_; }
  /// Bytes of all rows of a pencil.
  std::int64_t rows_bytes() const noexcept { return is_split_ ? numbers_ * row_pitch_ : 0; }

  /// The pencils as the library takes them: as they lie, or in `rows`.
  template <class Byte>
  Pencils<Byte> rows_of(const Pencils<Byte>& pencils, std::byte* rows) const noexcept {
    return is_split_ ? Pencils<Byte>{rows, row_offsets_.data(), row_pitch_}
                     : Pencils<Byte>{pencils.base, pencils.offsets, number_bytes_};
  }

  /// Elements that begin at `base` and lie one after the other, as rows of as many numbers.
  Pencils<const std::byte> rows_at(const std::byte* base) const noexcept {
    return {base, row_offsets_.data(), points_ * number_bytes_};
  }

  void split(const Pencils<const std::byte>& source, std::byte* rows, std::int64_t pencils,
             bool is_from_memory) const noexcept {
    for (std::int64_t i = 0; i < pencils; ++i, rows += rows_bytes()) {
      const std::byte* const pencil = source.base + i * source.pencil_stride;
      if (is_contiguous_) {
        (is_from_memory ? in_memory_ : in_cache_)(pencil, rows);
        continue;
      }
      for_each_number([&](std::int64_t number, auto type) {
        gather_numbers<decltype(type)>(rows + number * row_pitch_, pencil + number * number_bytes_, source.offsets,
                                       points_);
      });
    }
  }

  void join(const std::byte* rows, const Pencils<std::byte>& destination, std::int64_t pencils,
            bool is_streaming) const noexcept {
    for (std::int64_t i = 0; i < pencils; ++i, rows += rows_bytes()) {
      std::byte* const pencil = destination.base + i * destination.pencil_stride;
      if (is_contiguous_) {
        (is_streaming ? in_memory_ : in_cache_)(rows, pencil);
        continue;
      }
      for_each_number([&](std::int64_t number, auto type) {
        scatter_numbers<decltype(type)>(pencil + number * number_bytes_, destination.offsets,
                                        rows + number * row_pitch_, points_);
      });
    }
  }

 private:
  /// Calls `visit(number, type)` for each number of an element, with something of as many bytes as it has.
  template <class Visit>
  void for_each_number(const Visit& visit) const noexcept {
    for (std::int64_t number = 0; number < numbers_; ++number) {
      if (number_bytes_ == sizeof(float)) {
        visit(number, float{});
      } else if (number_bytes_ == sizeof(double)) {
        visit(number, double{});
      } else {
        visit(number, std::array<double, 2>{});
      }
    }
  }

  bool is_contiguous_;
  bool is_split_;  // else the pencils lie as the library takes them: each number of each pencil beside the next
  std::int64_t points_;
  std::int64_t number_bytes_;
  std::int64_t numbers_;  // of an element
  std::int64_t row_pitch_;
  std::vector<std::int64_t> row_offsets_;
  mover::Mover in_cache_;
  mover::Mover in_memory_;  // from there, past the cache to there
};

/// The points of a pencil at the end that is real or not, where the other one is real or not.
std::int64_t points_of(std::int64_t length, bool is_real, bool is_other_real) {
  return !is_real && is_other_real ? length / 2 + 1 : length;
}

SplitPencils split_pencils_of(const PencilShape& shape, bool is_source, std::int64_t real_bytes) {
  const TransformTraits& traits = traits_of(shape.kind);
  const bool is_real = is_source ? traits.has_real_input : traits.has_real_output;
  const bool is_other_real = is_source ? traits.has_real_output : traits.has_real_input;
  return {is_source ? shape.source : shape.destination,
          points_of(shape.length, is_real, is_other_real),
          real_bytes * (is_real ? 1 : 2),
          shape.numbers,
          is_source,
          shape.code};
}

// The library transforms pencils of single numbers, contiguous or adjacent. Numbers of adjacent elements are adjacent
// themselves. Elements that follow one another along their pencil are split into a row for each number, and joined
// again, in cache: pencil after pencil, where both ends are such.
class ElementTransform final : public LocalTransform {
 public:
  ElementTransform(const LocalLibrary& library, const PencilShape& shape, std::int64_t real_bytes, Effort effort)
      : numbers_(shape.numbers),
        source_(split_pencils_of(shape, true, real_bytes)),
        destination_(split_pencils_of(shape, false, real_bytes)) {
    constexpr std::int64_t group_bytes = 16 << 10;  // half of a first-level cache
    const bool are_both_split = source_.is_split() && destination_.is_split();
    const bool works_in_place = are_both_split && source_.number_bytes() == destination_.number_bytes();
    destination_begin_ = works_in_place ? 0 : source_.rows_bytes();
    const std::int64_t pencil_bytes = destination_begin_ + destination_.rows_bytes();
    group_ = are_both_split ? std::clamp<std::int64_t>(group_bytes / pencil_bytes, 1, shape.pencils) : shape.pencils;
    destination_begin_ *= group_;
    PencilShape rows = shape;
    rows.numbers = 1;
    rows.pencils = group_ * numbers_;
    rows.source = source_.spacing();
    rows.destination = destination_.spacing();
    rows.source_stride = source_.row_pitch();
    rows.destination_stride = destination_.row_pitch();
    transform_ = library.plan(rows, real_bytes, effort);
  }

  std::size_t scratch_bytes() const noexcept override { return transform_->scratch_bytes() + rows_bytes(); }

  void run(const Pencils<const std::byte>& source, const Pencils<std::byte>& destination, std::int64_t pencils,
           std::span<std::byte> scratch, double factor, transform::Access access) const noexcept override {
    std::byte* const source_rows = scratch.data();
    std::byte* const destination_rows = source_rows + destination_begin_;
    scratch = scratch.subspan(rows_bytes());
    transform::Access of_rows = access;
    Pencils<const std::byte> next;
    of_rows.is_from_memory = access.is_from_memory && !source_.is_split();
    of_rows.is_streaming = access.is_streaming && !destination_.is_split();
    for (std::int64_t first = 0; first < pencils; first += group_) {
      const std::int64_t count = std::min(group_, pencils - first);
      const Pencils<const std::byte> from{source.base + first * source.pencil_stride, source.offsets,
                                          source.pencil_stride};
      const Pencils<std::byte> to{destination.base + first * destination.pencil_stride, destination.offsets,
                                  destination.pencil_stride};
      if (source_.is_split()) {
        source_.split(from, source_rows, count, access.is_from_memory);
      }
      ask_ahead(source, pencils, first + count, access, next, of_rows);
      transform_->run(source_.rows_of(from, source_rows), destination_.rows_of(to, destination_rows), count * numbers_,
                      scratch, factor, of_rows);
      if (destination_.is_split()) {
        destination_.join(destination_rows, to, count, access.is_streaming);
      }
    }
  }

 private:
  /// Has the library ask for what comes next, from pencil `begin` of this run on or in the next one: as it takes that,
  /// pencils as they lie of which it sees every number that begins an element, or elements as rows.
  void ask_ahead(const Pencils<const std::byte>& source, std::int64_t pencils, std::int64_t begin,
                 const transform::Access& access, Pencils<const std::byte>& next,
                 transform::Access& of_rows) const noexcept {
    const bool is_in_run = begin < pencils;
    of_rows.next = nullptr;
    if (!access.is_from_memory || (!is_in_run && access.next == nullptr)) {
      return;
    }
    of_rows.next = &next;
    if (!source_.is_split()) {
      next = {access.next->base, access.next->offsets, source_.number_bytes()};
      of_rows.next_pencils = access.next_pencils * numbers_;
    } else if (!destination_.is_split()) {
      next = *access.next;
      of_rows.next_pencils = access.next_pencils;
    } else {
      next = source_.rows_at(is_in_run ? source.base + begin * source.pencil_stride : access.next->base);
      of_rows.next_pencils = std::min(group_, is_in_run ? pencils - begin : access.next_pencils) * numbers_;
    }
  }

  std::size_t rows_bytes() const noexcept {
    return static_cast<std::size_t>(destination_begin_ + group_ * destination_.rows_bytes());
  }

  std::int64_t numbers_;  // of an element
  SplitPencils source_;
  SplitPencils destination_;
  std::int64_t group_ = 0;                     // pencils that are split, transformed and joined at a time
  std::int64_t destination_begin_ = 0;         // of its rows; 0 where they are the source's
  std::unique_ptr<LocalTransform> transform_;  // of single numbers
};

}  // namespace

std::unique_ptr<LocalTransform> make_element_transform(const LocalLibrary& library, const PencilShape& shape,
                                                       std::int64_t real_bytes, Effort effort) {
  return std::make_unique<ElementTransform>(library, shape, real_bytes, effort);
}

}  // namespace penstock::fft

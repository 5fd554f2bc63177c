#include "penstock/fft/pruned_transform.hpp"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/fft/pencil_transform.hpp"
#include "penstock/fft/streamed_copy.hpp"
#include "penstock/shape/shape.hpp"

namespace penstock::fft {
namespace {

using transform::Pencils;

/// Which points of a whole spectrum are kept, and where: the first `low` of them, and the last `high`.
struct KeptModes {
  std::int64_t whole;
  std::int64_t low;
  std::int64_t high;
  /// With an even number of modes n the coefficient `low - 1`, of wavenumber n / 2, stands for that of -n / 2 as well:
  /// it is their sum. Of a whole spectrum the latter is the point `whole - low + 1`; of half of one, which is that of
  /// real numbers, it is the conjugate.
  bool has_middle;
  bool is_half;

  std::int64_t kept() const noexcept { return low + high; }
  std::int64_t opposite() const noexcept { return whole - low + 1; }
};

KeptModes kept_modes(const PencilShape& shape) {
  const TransformTraits& traits = traits_of(shape.kind);
  const bool is_even = shape.modes % 2 == 0;
  if (traits.has_real_input && traits.has_real_output) {
    return {.whole = shape.length, .low = shape.modes, .high = 0, .has_middle = false, .is_half = false};
  }
  const std::int64_t low = shape.modes / 2 + 1;
  if (traits.has_real_input || traits.has_real_output) {
    return {.whole = shape.length / 2 + 1, .low = low, .high = 0, .has_middle = is_even, .is_half = true};
  }
  return {.whole = shape.length, .low = low, .high = shape.modes - low, .has_middle = is_even, .is_half = false};
}

template <class Real>
void add(std::byte* to, const std::byte* from, std::int64_t bytes) {
  auto* const sum = reinterpret_cast<Real*>(to);
  const auto* const other = reinterpret_cast<const Real*>(from);
  for (std::int64_t i = 0; i < bytes / std::int64_t{sizeof(Real)}; ++i) {
    sum[i] += other[i];
  }
}

template <class Real>
void add_conjugate(std::byte* to, std::int64_t bytes) {
  auto* const sum = reinterpret_cast<Real*>(to);
  for (std::int64_t i = 0; i < bytes / std::int64_t{sizeof(Real)}; i += 2) {
    sum[i] *= 2;
    sum[i + 1] = 0;
  }
}

/// Half of the real part, for both of two conjugates.
template <class Real>
void halve_real(std::byte* to, const std::byte* from, std::int64_t bytes) {
  auto* const half = reinterpret_cast<Real*>(to);
  const auto* const whole = reinterpret_cast<const Real*>(from);
  for (std::int64_t i = 0; i < bytes / std::int64_t{sizeof(Real)}; i += 2) {
    half[i] = whole[i] / 2;
    half[i + 1] = 0;
  }
}

template <class Real>
void halve(std::byte* to, const std::byte* from, std::int64_t bytes) {
  auto* const half = reinterpret_cast<Real*>(to);
  const auto* const whole = reinterpret_cast<const Real*>(from);
  for (std::int64_t i = 0; i < bytes / std::int64_t{sizeof(Real)}; ++i) {
    half[i] = whole[i] / 2;
  }
}

// The library transforms whole pencils. Of a result a tile in cache has all, from which what is kept is copied; the
// source's rows that are missing are one row of zeros.
template <class Real>
class PrunedTransform final : public LocalTransform {
 public:
  PrunedTransform(const LocalLibrary& library, const PencilShape& shape, Effort effort)
      : modes_(kept_modes(shape)),
        is_from_modes_(shape.is_from_modes),
        spacing_(shape.is_from_modes ? shape.source : shape.destination),
        element_bytes_(shape.numbers * bytes_of_number(shape)) {
    PencilShape whole = shape;
    whole.modes = 0;
    const bool has_rows = spacing_ == Spacing::adjacent;
    tile_pitch_ = shape::tile_pitch((has_rows ? shape.pencils : modes_.whole) * element_bytes_);
    (is_from_modes_ ? whole.source : whole.destination) = has_rows ? Spacing::adjacent : Spacing::contiguous;
    (is_from_modes_ ? whole.source_stride : whole.destination_stride) = has_rows ? element_bytes_ : tile_pitch_;
    transform_ = plan_pencils(library, whole, sizeof(Real), effort);
    for (std::int64_t k = 0; k < modes_.whole; ++k) {
      tile_offsets_.push_back(k * (has_rows ? tile_pitch_ : element_bytes_));
    }
    // Of a source of rows, two rows: zeros, and the middle.
    offsets_bytes_ = round_up(modes_.whole * std::int64_t{sizeof(std::int64_t)}, cache_line_bytes);
    tile_bytes_ = !has_rows        ? shape.pencils * tile_pitch_
                  : is_from_modes_ ? 2 * tile_pitch_
                                   : modes_.whole * tile_pitch_;
  }

  std::size_t scratch_bytes() const noexcept override {
    return transform_->scratch_bytes() + static_cast<std::size_t>(offsets_bytes_ + tile_bytes_);
  }

  void run(const Pencils<const std::byte>& source, const Pencils<std::byte>& destination, std::int64_t pencils,
           std::span<std::byte> scratch, double factor, transform::Access access) const noexcept override {
    auto* const offsets = reinterpret_cast<std::int64_t*>(scratch.data());
    std::byte* const tile = scratch.data() + offsets_bytes_;
    scratch = scratch.subspan(static_cast<std::size_t>(offsets_bytes_ + tile_bytes_));
    if (!is_from_modes_) {
      const Pencils<std::byte> whole{tile, tile_offsets_.data(), pencil_stride_of_tile()};
      const bool is_streaming = std::exchange(access.is_streaming, false);
      transform_->run(source, whole, pencils, scratch, factor, access);
      keep(tile, destination, pencils, is_streaming);
      return;
    }
    access.next = nullptr;  // it has not all points
    Pencils<const std::byte> whole{tile, tile_offsets_.data(), tile_pitch_};
    if (spacing_ == Spacing::adjacent) {
      list_rows(source, tile, pencils, offsets);
      whole = {source.base, offsets, source.pencil_stride};
    } else {
      extend(source, tile, pencils);
      access.is_from_memory = false;
    }
    transform_->run(whole, destination, pencils, scratch, factor, access);
  }

 private:
  static std::int64_t bytes_of_number(const PencilShape& shape) {
    const TransformTraits& traits = traits_of(shape.kind);
    const bool is_real = shape.is_from_modes ? traits.has_real_input : traits.has_real_output;
    return static_cast<std::int64_t>(sizeof(Real)) * (is_real ? 1 : 2);
  }

  std::int64_t pencil_stride_of_tile() const noexcept {
    return spacing_ == Spacing::adjacent ? element_bytes_ : tile_pitch_;
  }

  /// The point of the whole spectrum that a kept one is.
  std::int64_t whole_of(std::int64_t k) const noexcept { return k < modes_.low ? k : k + modes_.whole - modes_.kept(); }

  /// Copies what is kept of a tile's points.
  void keep(std::byte* tile, const Pencils<std::byte>& destination, std::int64_t pencils,
            bool is_streaming) const noexcept {
    const bool has_rows = spacing_ == Spacing::adjacent;
    const std::int64_t run_bytes = has_rows ? pencils * element_bytes_ : element_bytes_;  // of what lies side by side
    for (std::int64_t p = 0; p < (has_rows ? 1 : pencils); ++p) {
      std::byte* const from = tile + p * tile_pitch_;
      std::byte* const to = destination.base + p * destination.pencil_stride;
      if (modes_.has_middle) {
        std::byte* const middle = from + tile_offsets_[static_cast<std::size_t>(modes_.low - 1)];
        if (modes_.is_half) {
          add_conjugate<Real>(middle, run_bytes);
        } else {
          add<Real>(middle, from + tile_offsets_[static_cast<std::size_t>(modes_.opposite())], run_bytes);
        }
      }
      if (spacing_ == Spacing::contiguous) {
        copy_bytes(to, from, modes_.low * element_bytes_, is_streaming);
        copy_bytes(to + modes_.low * element_bytes_, from + (modes_.whole - modes_.high) * element_bytes_,
                   modes_.high * element_bytes_, is_streaming);
        continue;
      }
      for (std::int64_t k = 0; k < modes_.kept(); ++k) {
        copy_bytes(to + destination.offsets[k], from + tile_offsets_[static_cast<std::size_t>(whole_of(k))], run_bytes,
                   is_streaming);
      }
    }
  }

  /// What of the coefficient of n / 2 goes to each of n / 2 and -n / 2.
  void halve_middle(std::byte* half, const std::byte* middle, std::int64_t bytes) const noexcept {
    if (modes_.is_half) {
      halve_real<Real>(half, middle, bytes);
    } else {
      halve<Real>(half, middle, bytes);
    }
  }

  /// Lists where the rows of a whole source lie: those that are missing in a row of zeros.
  void list_rows(const Pencils<const std::byte>& source, std::byte* rows, std::int64_t pencils,
                 std::int64_t* offsets) const noexcept {
    const std::int64_t row_bytes = pencils * element_bytes_;
    std::memset(rows, 0, static_cast<std::size_t>(row_bytes));
    std::fill_n(offsets, modes_.whole, rows - source.base);
    for (std::int64_t k = 0; k < modes_.kept(); ++k) {
      offsets[whole_of(k)] = source.offsets[k];
    }
    if (modes_.has_middle) {
      std::byte* const half = rows + tile_pitch_;
      const std::int64_t middle = modes_.low - 1;
      halve_middle(half, source.base + source.offsets[middle], row_bytes);
      offsets[middle] = half - source.base;
      if (!modes_.is_half) {
        offsets[modes_.opposite()] = half - source.base;
      }
    }
  }

  /// Copies pencils into a tile, with zeros where points are missing.
  void extend(const Pencils<const std::byte>& source, std::byte* tile, std::int64_t pencils) const noexcept {
    const std::int64_t missing = modes_.whole - modes_.kept();
    for (std::int64_t p = 0; p < pencils; ++p, tile += tile_pitch_) {
      const std::byte* const from = source.base + p * source.pencil_stride;
      if (spacing_ == Spacing::contiguous) {
        std::memcpy(tile, from, static_cast<std::size_t>(modes_.low * element_bytes_));
        std::memcpy(tile + (modes_.whole - modes_.high) * element_bytes_, from + modes_.low * element_bytes_,
                    static_cast<std::size_t>(modes_.high * element_bytes_));
      } else {
        for (std::int64_t k = 0; k < modes_.kept(); ++k) {
          std::memcpy(tile + whole_of(k) * element_bytes_, from + source.offsets[k],
                      static_cast<std::size_t>(element_bytes_));
        }
      }
      std::memset(tile + modes_.low * element_bytes_, 0, static_cast<std::size_t>(missing * element_bytes_));
      if (modes_.has_middle) {
        std::byte* const middle = tile + (modes_.low - 1) * element_bytes_;
        halve_middle(middle, middle, element_bytes_);
        if (!modes_.is_half) {
          std::memcpy(tile + modes_.opposite() * element_bytes_, middle, static_cast<std::size_t>(element_bytes_));
        }
      }
    }
  }

  KeptModes modes_;
  bool is_from_modes_;
  Spacing spacing_;                            // of the end that has the modes
  std::int64_t element_bytes_;                 // there
  std::unique_ptr<LocalTransform> transform_;  // of whole pencils
  std::int64_t tile_pitch_ = 0;                // from row to row, or from pencil to pencil
  std::vector<std::int64_t> tile_offsets_;
  std::int64_t offsets_bytes_ = 0;
  std::int64_t tile_bytes_ = 0;
};

}  // namespace

std::unique_ptr<LocalTransform> make_pruned_transform(const LocalLibrary& library, const PencilShape& shape,
                                                      std::int64_t real_bytes, Effort effort) {
  if (real_bytes == sizeof(float)) {
    return std::make_unique<PrunedTransform<float>>(library, shape, effort);
  }
  return std::make_unique<PrunedTransform<double>>(library, shape, effort);
}

}  // namespace penstock::fft

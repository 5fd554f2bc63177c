// The whole transform by FFTW in one process, in double precision: what ours is compared with.
#pragma once

#include <complex>
#include <cstdint>

#include "penstock/base/memory.hpp"
#include "penstock/field/field.hpp"

namespace penstock::field {

/// The spectrum of a whole field as [z][y][x], of r2c with x from 0 to nx/2. Local to one rank.
class ReferenceSpectrum {
 public:
  /// The memory that one takes.
  static std::uint64_t bytes(const Extents& size, fft::Type type);
  /// Takes the memory; throws Error where there is none.
  ReferenceSpectrum(const Extents& size, fft::Type type);

  /// Transforms field `index` of `source`, its values rounded to Real before.
  template <class Real>
  void transform(const Source& source, int index);
  const std::complex<double>& at(const Extents& mode) const noexcept {
    return data()[(mode[2] * size_[1] + mode[1]) * modes_x_ + mode[0]];
  }

 private:
  std::complex<double>* data() const noexcept { return reinterpret_cast<std::complex<double>*>(memory_.data()); }
  Extents size_;
  fft::Type type_;
  std::int64_t modes_x_;
  Memory memory_;
};

extern template void ReferenceSpectrum::transform<float>(const Source&, int);
extern template void ReferenceSpectrum::transform<double>(const Source&, int);

}  // namespace penstock::field

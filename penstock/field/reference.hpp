// The whole transform by FFTW in one process, in double precision: what ours is compared with.
#pragma once

#include <complex>
#include <cstdint>

#include "penstock/base/memory.hpp"
#include "penstock/field/field.hpp"

namespace penstock::field {

/// The spectrum of a whole field; of type r2c the stored half. Local to one rank.
class ReferenceSpectrum {
 public:
  /// The memory that one takes.
  static std::uint64_t bytes(const fft::Options& options);
  /// For transforms with these options' size, type, kinds and directions. Takes the memory; throws Error where there is
  /// none.
  explicit ReferenceSpectrum(const fft::Options& options);

  /// Transforms field `index` of `source`, its values rounded to Real before.
  template <class Real>
  void transform(const Source& source, int index);
  /// A real transform's modes have no imaginary part.
  std::complex<double> at(const Extents& mode) const noexcept;

 private:
  double* numbers() const noexcept { return reinterpret_cast<double*>(memory_.data()); }
  fft::Options options_;
  Extents field_strides_;     // in numbers, from point to point; the first direction transformed is the innermost
  Extents spectrum_strides_;  // from mode to mode
  Memory memory_;
};

extern template void ReferenceSpectrum::transform<float>(const Source&, int);
extern template void ReferenceSpectrum::transform<double>(const Source&, int);

}  // namespace penstock::field

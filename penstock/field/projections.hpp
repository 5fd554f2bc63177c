// Random projections of a field and of its spectrum, which are equal where the spectrum is right. This checks a
// transform without another one; each rank reads only its own part. Private to the module.
#pragma once

#include <array>
#include <complex>
#include <cstdint>
#include <vector>

#include "penstock/field/field.hpp"

namespace penstock::field {

/// How many there are: each is as large as the error of the whole spectrum in the mean (its square), so that an error
/// shows in one of them whatever the pattern, and all of them tell its size.
inline constexpr std::size_t projections = 4;
using Projections = std::array<std::complex<long double>, projections>;

/// The weights of one projection in one direction, by index.
struct Weights {
  std::vector<long double> real;
  std::vector<long double> imaginary;
};

/// Sums over all points, and over all modes, of values times weights. The weight of a mode is a product of one factor a
/// direction, z^k at index k, where z is a random number on the unit circle. The spectrum's sum is then its generating
/// polynomial at a random place, whose squared magnitude is in the mean over all places the sum of the coefficients'
/// (Parseval). The weight of a point follows from the transform's definition as a geometric series, without rounding
/// that grows with its length.
class Projector {
 public:
  /// For transforms with these options' size, type, kinds and directions. Local.
  explicit Projector(const fft::Options& options);

  /// The sums over a rank's part of a field in real space, and of a spectrum that is not scaled. Local.
  template <class Real>
  Projections of_field(const Distribution& part, std::span<const Real> numbers) const;
  template <class Real>
  Projections of_spectrum(const Distribution& part, std::span<const Real> numbers) const;

 private:
  using ByDirection = std::array<std::array<Weights, 3>, projections>;
  int field_components_;
  int spectrum_components_;
  ByDirection points_;
  ByDirection modes_;
};

}  // namespace penstock::field

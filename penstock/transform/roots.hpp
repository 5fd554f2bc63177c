// Roots of unity, for constants of the code and for twiddle factors of a plan.
#pragma once

#include <cstdint>
#include <numbers>

namespace penstock::transform {

template <class Real>
struct Root {
  Real re;
  Real im;
};

/// exp(-2 pi i k / n), rounded once, for 0 <= k < n. Taylor series within an eighth of a turn, in long double, so that
/// it is a constant of the compiler as well.
template <class Real>
constexpr Root<Real> root_of_unity(std::int64_t k, std::int64_t n) {
  // 8 k / n = octant + rest / n; the odd octants are reflected, so that the angle is at most pi / 4.
  const std::int64_t octant = 8 * k / n;
  std::int64_t rest = 8 * k - octant * n;
  if (octant % 2 != 0) {
    rest = n - rest;
  }
  const long double angle =
      std::numbers::pi_v<long double> / 4 * static_cast<long double>(rest) / static_cast<long double>(n);
  const long double square = angle * angle;
  long double cosine = 0;
  long double sine = 0;
  for (int i = 26; i > 0; i -= 2) {  // Horner's scheme of both series: the last term left out is below 1e-25
    cosine = (1 - cosine) * square / static_cast<long double>(i * (i - 1));
    sine = (1 - sine) * square / static_cast<long double>(i * (i + 1));
  }
  const auto c = static_cast<Real>(1 - cosine);
  const auto s = static_cast<Real>(angle * (1 - sine));
  switch (octant) {
    case 0:
      return {c, -s};
    case 1:
      return {s, -c};
    case 2:
      return {-s, -c};
    case 3:
      return {-c, -s};
    case 4:
      return {-c, s};
    case 5:
      return {-s, c};
    case 6:
      return {s, c};
    default:
      return {c, s};
  }
}

}  // namespace penstock::transform

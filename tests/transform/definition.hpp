// The discrete Fourier transform by its definition, in long double, and pencils of random numbers to compare with it.
#pragma once

#include <algorithm>
#include <complex>
#include <cstdint>
#include <numbers>
#include <random>
#include <vector>

#include "penstock/transform/transform.hpp"

namespace penstock::transform {

using Long = std::complex<long double>;

/// exp(-2 pi i k / n) for all k.
inline std::vector<Long> all_roots(std::int64_t n) {
  std::vector<Long> roots;
  for (std::int64_t k = 0; k < n; ++k) {
    const long double angle =
        -2 * std::numbers::pi_v<long double> * static_cast<long double>(k) / static_cast<long double>(n);
    roots.push_back({std::cos(angle), std::sin(angle)});
  }
  return roots;
}

/// The sums of the definition, split by the smallest factor of the length, so that lengths of small factors take less
/// time than the square of the length.
inline std::vector<Long> by_definition(const std::vector<Long>& x) {
  const auto n = static_cast<std::int64_t>(x.size());
  std::int64_t p = 2;
  while (p * p <= n && n % p != 0) {
    ++p;
  }
  p = n % p == 0 ? p : n;
  const std::int64_t m = n / p;
  std::vector<std::vector<Long>> parts;
  for (std::int64_t j = 0; j < p; ++j) {
    std::vector<Long> part;
    for (std::int64_t k = 0; k < m; ++k) {
      part.push_back(x[static_cast<std::size_t>(j + k * p)]);
    }
    parts.push_back(m == 1 ? part : by_definition(part));
  }
  const std::vector<Long> roots = all_roots(n);
  std::vector<Long> y(x.size());
  for (std::int64_t q = 0; q < n; ++q) {
    for (std::int64_t j = 0; j < p; ++j) {
      y[static_cast<std::size_t>(q)] += parts[static_cast<std::size_t>(j)][static_cast<std::size_t>(q % m)] *
                                        roots[static_cast<std::size_t>(j * q % n)];
    }
  }
  return y;
}

/// What pencils of a kind become; n is the length, the points of the real side where there is one.
inline std::vector<Long> by_definition(Kind kind, std::vector<Long> x, std::int64_t n) {
  if (kind == Kind::complex_to_real) {
    x.front().imag(0);
    if (n % 2 == 0) {
      x.back().imag(0);  // of x_0 where n is 1
    }
    for (auto k = static_cast<std::int64_t>(x.size()); k < n; ++k) {
      x.push_back(std::conj(x[static_cast<std::size_t>(n - k)]));
    }
  }
  const bool is_backward = kind == Kind::backward || kind == Kind::complex_to_real;
  if (is_backward) {
    std::ranges::transform(x, x.begin(), [](Long number) { return std::conj(number); });
  }
  std::vector<Long> y = by_definition(x);
  if (is_backward) {
    std::ranges::transform(y, y.begin(), [](Long number) { return std::conj(number); });
  }
  y.resize(static_cast<std::size_t>(kind == Kind::real_to_complex ? n / 2 + 1 : n));
  return y;
}

}  // namespace penstock::transform

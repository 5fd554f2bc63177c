// The discrete Fourier transform by its definition, in long double, and pencils of random numbers to compare with it.
#pragma once

#include <algorithm>
#include <array>
#include <complex>
#include <cstdint>
#include <map>
#include <numbers>
#include <optional>
#include <random>
#include <vector>

#include "penstock/transform/transform.hpp"

namespace penstock::transform {

using Long = std::complex<long double>;

/// exp(-2 pi i k / n) for all k. Remembered.
inline const std::vector<Long>& all_roots(std::int64_t n) {
  thread_local std::map<std::int64_t, std::vector<Long>> known;
  std::vector<Long>& roots = known[n];
  for (auto k = static_cast<std::int64_t>(roots.size()); k < n; ++k) {
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
  const std::vector<Long>& roots = all_roots(n);
  std::vector<Long> y(x.size());
  for (std::int64_t q = 0; q < n; ++q) {
    for (std::int64_t j = 0; j < p; ++j) {
      y[static_cast<std::size_t>(q)] += parts[static_cast<std::size_t>(j)][static_cast<std::size_t>(q % m)] *
                                        roots[static_cast<std::size_t>(j * q % n)];
    }
  }
  return y;
}

/// Half-complex numbers and Hartley's of n points by their definition.
inline std::vector<Long> parts_of(Kind kind, const std::vector<Long>& x) {
  const auto n = static_cast<std::int64_t>(x.size());
  const std::vector<Long>& roots = all_roots(n);
  std::vector<Long> y(x.size());
  for (std::int64_t k = 0; k < n; ++k) {
    for (std::int64_t j = 0; j < n; ++j) {
      // Imaginary parts are sums by sines, of the wavenumbers above n / 2 as they are of the opposite sign.
      const std::int64_t wavenumber = kind == Kind::hc2r ? j : k;
      const Long root = roots[static_cast<std::size_t>(j * k % n)];
      const long double both = kind == Kind::hc2r && wavenumber != 0 && 2 * wavenumber != n ? 2 : 1;
      const long double part = kind == Kind::dht     ? root.real() - root.imag()
                               : 2 * wavenumber <= n ? root.real()
                                                     : -root.imag();
      y[static_cast<std::size_t>(k)] += x[static_cast<std::size_t>(j)] * both * part;
    }
  }
  return y;
}

/// Sines and cosines of n points by their definition.
inline std::vector<Long> sums_of(Kind kind, const std::vector<Long>& x) {
  const auto n = static_cast<std::int64_t>(x.size());
  const bool is_sine = kind >= Kind::rodft00;
  const bool is_first = kind == Kind::redft00 || kind == Kind::rodft00;
  const bool has_half_points =
      kind == Kind::redft10 || kind == Kind::redft11 || kind == Kind::rodft10 || kind == Kind::rodft11;
  const bool has_half_outputs =
      kind == Kind::redft01 || kind == Kind::redft11 || kind == Kind::rodft01 || kind == Kind::rodft11;
  // Twice the point and twice the output, of a period that is four times as long.
  const std::int64_t period = 8 * (is_first ? is_sine ? n + 1 : n - 1 : n);
  const std::vector<Long>& roots = all_roots(period);
  const auto twice = [&](std::int64_t i, bool is_half) { return 2 * i + (is_half ? 1 : is_sine ? 2 : 0); };
  std::vector<Long> y(x.size());
  for (std::int64_t k = 0; k < n; ++k) {
    for (std::int64_t j = 0; j < n; ++j) {
      const bool is_end = (kind == Kind::redft00 && (j == 0 || j == n - 1)) || (kind == Kind::redft01 && j == 0) ||
                          (kind == Kind::rodft01 && j == n - 1);
      const Long root =
          roots[static_cast<std::size_t>(twice(j, has_half_points) * twice(k, has_half_outputs) % period)];
      y[static_cast<std::size_t>(k)] +=
          x[static_cast<std::size_t>(j)] * (is_sine ? -root.imag() : root.real()) * (is_end ? 1.0L : 2.0L);
    }
  }
  return y;
}

/// What pencils of a kind become; n is the length, the points of the real side where there is one.
inline std::vector<Long> by_definition(Kind kind, std::vector<Long> x, std::int64_t n) {
  if (kind >= Kind::redft00) {
    return kind >= Kind::r2hc ? parts_of(kind, x) : sums_of(kind, x);
  }
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

/// The field [z][y][x] of size {nx, ny, nz}, transformed along the directions of which there is a kind, none of which
/// changes the number of points.
inline std::vector<std::complex<double>> by_definition(const std::array<std::int64_t, 3>& size,
                                                       const std::array<std::optional<Kind>, 3>& kinds,
                                                       const std::vector<std::complex<double>>& field) {
  std::vector<Long> numbers(field.begin(), field.end());
  std::int64_t stride = 1;
  for (std::size_t d = 0; d < 3; stride *= size[d++]) {
    const std::int64_t block = stride * size[d];
    for (std::int64_t first = 0; kinds[d] && first < std::ssize(numbers); ++first) {
      if (first % block >= stride) {
        continue;  // not the first point of a pencil
      }
      std::vector<Long> pencil;
      for (std::int64_t i = 0; i < size[d]; ++i) {
        pencil.push_back(numbers[static_cast<std::size_t>(first + i * stride)]);
      }
      pencil = by_definition(*kinds[d], pencil, size[d]);
      for (std::int64_t i = 0; i < size[d]; ++i) {
        numbers[static_cast<std::size_t>(first + i * stride)] = pencil[static_cast<std::size_t>(i)];
      }
    }
  }
  std::vector<std::complex<double>> result;
  for (const Long& number : numbers) {
    result.emplace_back(static_cast<double>(number.real()), static_cast<double>(number.imag()));
  }
  return result;
}

}  // namespace penstock::transform

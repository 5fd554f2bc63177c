// Discrete Fourier transforms of a few points, each a vector of pencils: what a pass does with the legs of a butterfly.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include "penstock/transform/roots.hpp"

namespace penstock::transform {

/// Complex numbers of several pencils, real and imaginary parts apart.
template <class V>
struct Complex {
  V re;
  V im;
};

template <class V>
[[gnu::always_inline]] inline Complex<V> operator+(const Complex<V>& a, const Complex<V>& b) {
  return {a.re + b.re, a.im + b.im};
}

template <class V>
[[gnu::always_inline]] inline Complex<V> operator-(const Complex<V>& a, const Complex<V>& b) {
  return {a.re - b.re, a.im - b.im};
}

/// a - i b and a + i b.
template <class V>
[[gnu::always_inline]] inline Complex<V> minus_i(const Complex<V>& a, const Complex<V>& b) {
  return {a.re + b.im, a.im - b.re};
}

template <class V>
[[gnu::always_inline]] inline Complex<V> plus_i(const Complex<V>& a, const Complex<V>& b) {
  return {a.re - b.im, a.im + b.re};
}

template <class V, class Real>
[[gnu::always_inline]] inline Complex<V> times(const Complex<V>& a, Real re, Real im) {
  return {a.re * re - a.im * im, a.re * im + a.im * re};
}

/// Calls `body` with 0 to count - 1 as constants: arrays that are indexed by these stay in registers.
template <std::size_t count, class Body>
[[gnu::always_inline]] inline void unroll(Body&& body) {
  [&]<std::size_t... i>(std::index_sequence<i...>) __attribute__((always_inline)) {
    (body(std::integral_constant<std::size_t, i>()), ...);
  }
  (std::make_index_sequence<count>());
}

/// What a butterfly works on. No std::array: two sets' files may have vectors of one type, and the linker keeps but one
/// copy of a function that is not inlined.
template <class V, std::size_t points>
struct Legs {
  Complex<V> legs[points];

  [[gnu::always_inline]] Complex<V>& operator[](std::size_t i) { return legs[i]; }
  [[gnu::always_inline]] const Complex<V>& operator[](std::size_t i) const { return legs[i]; }
};

/// a times exp(-2 pi i k / n).
template <std::size_t k, std::size_t n, class V>
[[gnu::always_inline]] inline Complex<V> turned(const Complex<V>& a) {
  using Real = std::remove_cvref_t<decltype(a.re[0])>;
  if constexpr (k == 0) {
    return a;
  } else if constexpr (4 * k == n) {
    return {a.im, -a.re};
  } else if constexpr (2 * k == n) {
    return {-a.re, -a.im};
  } else if constexpr (4 * k == 3 * n) {
    return {-a.im, a.re};
  } else if constexpr (8 * k == n) {
    constexpr Real half = root_of_unity<Real>(1, 8).re;
    return {(a.re + a.im) * half, (a.im - a.re) * half};
  } else if constexpr (8 * k == 3 * n) {
    constexpr Real half = root_of_unity<Real>(1, 8).re;
    return {(a.im - a.re) * half, (a.re + a.im) * -half};
  } else {
    constexpr Root<Real> root = root_of_unity<Real>(k, n);
    return times(a, root.re, root.im);
  }
}

constexpr std::size_t first_factor(std::size_t points) {
  if (points % 4 == 0 && points > 4) {
    return points == 8 ? 2 : 4;
  }
  for (std::size_t i = 2; i * i <= points; ++i) {
    if (points % i == 0) {
      return i;
    }
  }
  return points;
}

/// The forward transform of the legs: leg q becomes the sum over k of leg k times exp(-2 pi i k q / points).
template <std::size_t points, class V>
[[gnu::always_inline]] inline Legs<V, points> transformed(const Legs<V, points>& x) {
  Legs<V, points> y;
  if constexpr (points == 1) {
    y = x;
  } else if constexpr (points == 2) {
    y[0] = x[0] + x[1];
    y[1] = x[0] - x[1];
  } else if constexpr (points == 4) {
    const Complex<V> a = x[0] + x[2];
    const Complex<V> b = x[0] - x[2];
    const Complex<V> c = x[1] + x[3];
    const Complex<V> d = x[1] - x[3];
    y[0] = a + c;
    y[1] = minus_i(b, d);
    y[2] = a - c;
    y[3] = plus_i(b, d);
  } else if constexpr (first_factor(points) == points) {
    // A prime: legs k and points - k share their cosines and, but for the sign, their sines.
    using Real = std::remove_cvref_t<decltype(x[0].re[0])>;
    constexpr std::size_t half = (points - 1) / 2;
    Legs<V, half> sum;
    Legs<V, half> difference;
    y[0] = x[0];
    unroll<half>([&](auto k) __attribute__((always_inline)) {
      sum[k] = x[k + 1] + x[points - 1 - k];
      difference[k] = x[k + 1] - x[points - 1 - k];
      y[0] = y[0] + sum[k];
    });
    unroll<half>([&](auto q) __attribute__((always_inline)) {
      Complex<V> even = x[0];
      Complex<V> odd;
      unroll<half>([&](auto k) __attribute__((always_inline)) {
        constexpr Root<Real> root =
            root_of_unity<Real>((decltype(q)::value + 1) * (decltype(k)::value + 1) % points, points);
        even = {even.re + sum[k].re * root.re, even.im + sum[k].im * root.re};
        if constexpr (decltype(k)::value == 0) {
          odd = {difference[k].re * -root.im, difference[k].im * -root.im};
        } else {
          odd = {odd.re + difference[k].re * -root.im, odd.im + difference[k].im * -root.im};
        }
      });
      y[q + 1] = minus_i(even, odd);
      y[points - 1 - q] = plus_i(even, odd);
    });
  } else {
    constexpr std::size_t first = first_factor(points);
    constexpr std::size_t second = points / first;
    Legs<V, points> middle;
    unroll<second>([&](auto j) __attribute__((always_inline)) {
      Legs<V, first> legs;
      unroll<first>([&](auto k) __attribute__((always_inline)) { legs[k] = x[j + second * k]; });
      legs = transformed<first, V>(legs);
      unroll<first>([&](auto q) __attribute__((always_inline)) {
        middle[q * second + j] = turned<(decltype(j)::value * decltype(q)::value) % points, points>(legs[q]);
      });
    });
    unroll<first>([&](auto q) __attribute__((always_inline)) {
      Legs<V, second> legs;
      unroll<second>([&](auto k) __attribute__((always_inline)) { legs[k] = middle[q * second + k]; });
      legs = transformed<second, V>(legs);
      unroll<second>([&](auto k) __attribute__((always_inline)) { y[q + first * k] = legs[k]; });
    });
  }
  return y;
}

}  // namespace penstock::transform

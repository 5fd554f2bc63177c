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

template <class V, class Real>
[[gnu::always_inline]] inline Complex<V> operator*(const Complex<V>& a, Real factor) {
  return {a.re * factor, a.im * factor};
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

/// The outputs of a prime, whole numbers or one part of them. Legs k and points - k share their cosines and, but for
/// the sign, their sines: with their sums and their differences times -i, outputs q and points - q are x_0 + the sum of
/// all sums_k cos(2 pi k q / points), plus and minus that of all turned_k sin(2 pi k q / points). `together` outputs
/// are made at once, and load what they are made of once.
template <std::size_t points, std::size_t together, class Real, class Number>
[[gnu::always_inline]] inline void give_prime(const Number& first, const Number* sums, const Number* turned,
                                              Number* outputs) {
  constexpr std::size_t half = (points - 1) / 2;
  static_assert(half % together == 0);
  outputs[0] = first;
  unroll<half>([&](auto k) __attribute__((always_inline)) { outputs[0] = outputs[0] + sums[k]; });
  unroll<half / together>([&](auto group) __attribute__((always_inline)) {
    constexpr std::size_t begin = decltype(group)::value * together + 1;
    Number even[together];
    Number odd[together];
    unroll<half>([&](auto k) __attribute__((always_inline)) {
      unroll<together>([&](auto i) __attribute__((always_inline)) {
        constexpr Root<Real> root =
            root_of_unity<Real>((begin + decltype(i)::value) * (decltype(k)::value + 1) % points, points);
        if constexpr (decltype(k)::value == 0) {
          even[i] = first + sums[k] * root.re;
          odd[i] = turned[k] * -root.im;
        } else {
          even[i] = even[i] + sums[k] * root.re;
          odd[i] = odd[i] + turned[k] * -root.im;
        }
      });
    });
    unroll<together>([&](auto i) __attribute__((always_inline)) {
      constexpr std::size_t q = begin + decltype(i)::value;
      outputs[q] = even[i] + odd[i];
      outputs[points - q] = even[i] - odd[i];
    });
  });
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
    using Real = std::remove_cvref_t<decltype(x[0].re[0])>;
    constexpr std::size_t half = (points - 1) / 2;
    if constexpr (points <= 5) {
      Complex<V> sums[half];
      Complex<V> turned[half];
      unroll<half>([&](auto k) __attribute__((always_inline)) {
        const Complex<V> difference = x[k + 1] - x[points - 1 - k];
        sums[k] = x[k + 1] + x[points - 1 - k];
        turned[k] = {difference.im, -difference.re};
      });
      give_prime<points, half, Real>(x[0], sums, turned, y.legs);
    } else {
      // The real parts of outputs need but half of the legs' numbers, their imaginary parts the others: one after the
      // other, 13 legs as well stay in 16 registers.
      V sums[half];
      V turned[half];
      V part[points];
      unroll<half>([&](auto k) __attribute__((always_inline)) {
        sums[k] = x[k + 1].re + x[points - 1 - k].re;
        turned[k] = x[k + 1].im - x[points - 1 - k].im;
      });
      give_prime<points, 1, Real>(x[0].re, sums, turned, part);
      unroll<points>([&](auto q) __attribute__((always_inline)) { y[q].re = part[q]; });
      unroll<half>([&](auto k) __attribute__((always_inline)) {
        sums[k] = x[k + 1].im + x[points - 1 - k].im;
        turned[k] = x[points - 1 - k].re - x[k + 1].re;
      });
      give_prime<points, 1, Real>(x[0].im, sums, turned, part);
      unroll<points>([&](auto q) __attribute__((always_inline)) { y[q].im = part[q]; });
    }
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

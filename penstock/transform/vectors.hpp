// Vectors of numbers: how complex numbers of memory become pairs of real and imaginary parts, and squares are
// transposed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include "penstock/transform/butterflies.hpp"

namespace penstock::transform {

// A vector type S has: Real; Vector, of `lanes` numbers; stream(address, vector) for aligned addresses. Memory holds
// complex numbers with their parts side by side. Two neighbouring vectors of memory become a pair of real and imaginary
// parts by one shuffle each, and come back by another; the order of pencils in between is the processor's own.

/// A vector at any address of a number. A packed structure, since GCC ignores within templates what a typedef says of
/// the alignment of vectors, and Clang ignores what an alias says of it.
template <class S>
struct [[gnu::packed, gnu::aligned(alignof(typename S::Real)), gnu::may_alias]] Unaligned {
  typename S::Vector vector;
};

/// The vector whose number i is number choose(i) of a and b, one behind the other. `choose` is a lambda without
/// captures.
template <class S, class Choose>
[[gnu::always_inline]] inline typename S::Vector chosen(typename S::Vector a, typename S::Vector b, Choose) {
  return [&]<int... i>(std::integer_sequence<int, i...>) __attribute__((always_inline)) {
    return __builtin_shufflevector(a, b, Choose()(i)...);
  }
  (std::make_integer_sequence<int, S::lanes>());
}

/// How many numbers 16 bytes hold: shuffles within each 16 bytes of a vector take one instruction.
template <class S>
inline constexpr int quarter = 16 / static_cast<int>(sizeof(typename S::Real));

/// The real parts (part 0) or imaginary parts (part 1) of two vectors of complex numbers, in the processor's order.
template <class S, int part>
[[gnu::always_inline]] inline typename S::Vector part_of(typename S::Vector first, typename S::Vector second) {
  return chosen<S>(first, second, [](int i) {
    constexpr int half = quarter<S> / 2;
    const int place = i % quarter<S>;
    return i - place + place % half * 2 + part + (place < half ? 0 : S::lanes);
  });
}

/// Which of the complex numbers of two vectors that order has in a lane.
template <class S>
constexpr int point_of_lane(std::size_t lane) {
  constexpr int half = quarter<S> / 2;
  const int place = static_cast<int>(lane) % quarter<S>;
  return (static_cast<int>(lane) - place) / 2 + place % half + (place < half ? 0 : S::lanes / 2);
}

/// The first or second vector of complex numbers whose parts were taken apart by `part_of`.
template <class S, int which>
[[gnu::always_inline]] inline typename S::Vector put_together(typename S::Vector re, typename S::Vector im) {
  return chosen<S>(re, im, [](int i) {
    constexpr int half = quarter<S> / 2;
    const int place = i % quarter<S>;
    return i - place + place / 2 + half * which + (place % 2 == 0 ? 0 : S::lanes);
  });
}

/// Transposes a square of elements of `unit` numbers, a row a vector: rows[i] gets element i of each.
template <class S, int unit>
[[gnu::always_inline]] inline void turn(typename S::Vector* rows) {
  using Vector = typename S::Vector;
  constexpr int count = S::lanes / unit;
  constexpr int per_quarter = quarter<S> / unit;
  constexpr int quarters = S::lanes / quarter<S>;
  // Within each 16 bytes.
  if constexpr (per_quarter > 1) {
    constexpr int pair = quarter<S> / 2;  // at the end two elements of so many numbers change places
    if constexpr (per_quarter == 4) {
      unroll<count / 2>([&](auto i) __attribute__((always_inline)) {
        const Vector a = rows[2 * i];
        const Vector b = rows[2 * i + 1];
        rows[2 * i] = chosen<S>(a, b, [](int k) { return k / 4 * 4 + k % 4 / 2 + k % 2 * S::lanes; });
        rows[2 * i + 1] = chosen<S>(a, b, [](int k) { return k / 4 * 4 + 2 + k % 4 / 2 + k % 2 * S::lanes; });
      });
    }
    constexpr auto low = [](int k) { return k / (2 * pair) * 2 * pair + k % pair + (k / pair % 2) * S::lanes; };
    constexpr auto high = [](int k) { return k / (2 * pair) * 2 * pair + pair + k % pair + (k / pair % 2) * S::lanes; };
    unroll<count / per_quarter>([&](auto i) __attribute__((always_inline)) {
      Vector* const row = rows + per_quarter * static_cast<int>(i());
      if constexpr (per_quarter == 2) {
        const Vector a = row[0];
        row[0] = chosen<S>(a, row[1], low);
        row[1] = chosen<S>(a, row[1], high);
      } else {
        const Vector a = row[0];
        const Vector b = row[1];
        row[0] = chosen<S>(a, row[2], low);
        row[1] = chosen<S>(a, row[2], high);
        const Vector c = row[3];
        row[2] = chosen<S>(b, c, low);
        row[3] = chosen<S>(b, c, high);
      }
    });
  }
  // Between them.
  unroll<per_quarter>([&](auto j) __attribute__((always_inline)) {
    Vector* const row = rows + j();
    if constexpr (quarters == 2) {
      const Vector a = row[0];
      const Vector b = row[per_quarter];
      row[0] = chosen<S>(a, b, [](int k) { return k % quarter<S> + k / quarter<S> * S::lanes; });
      row[per_quarter] = chosen<S>(a, b, [](int k) { return quarter<S> + k % quarter<S> + k / quarter<S> * S::lanes; });
    } else if constexpr (quarters == 4) {
      constexpr auto low = [](int k) { return k % (2 * quarter<S>)+k / (2 * quarter<S>)*S::lanes; };
      constexpr auto high = [](int k) { return 2 * quarter<S> + k % (2 * quarter<S>)+k / (2 * quarter<S>)*S::lanes; };
      constexpr auto even = [](int k) {
        return k % quarter<S> + k / quarter<S> % 2 * 2 * quarter<S> + k / (2 * quarter<S>)*S::lanes;
      };
      constexpr auto odd = [](int k) {
        return quarter<S> + k % quarter<S> + k / quarter<S> % 2 * 2 * quarter<S> + k / (2 * quarter<S>)*S::lanes;
      };
      const Vector ab_low = chosen<S>(row[0], row[per_quarter], low);
      const Vector ab_high = chosen<S>(row[0], row[per_quarter], high);
      const Vector cd_low = chosen<S>(row[2 * per_quarter], row[3 * per_quarter], low);
      const Vector cd_high = chosen<S>(row[2 * per_quarter], row[3 * per_quarter], high);
      row[0] = chosen<S>(ab_low, cd_low, even);
      row[per_quarter] = chosen<S>(ab_low, cd_low, odd);
      row[2 * per_quarter] = chosen<S>(ab_high, cd_high, even);
      row[3 * per_quarter] = chosen<S>(ab_high, cd_high, odd);
    }
  });
}

/// How a pair of vectors lies in memory.
enum class Format {
  complex,  ///< numbers with their parts side by side
  planar,  ///< a vector of real parts, then one of imaginary parts; or two of real numbers, that are one for the passes
};

template <class S, Format format>
[[gnu::always_inline]] inline Complex<typename S::Vector> load(const std::byte* from) {
  const auto* const pair = reinterpret_cast<const Unaligned<S>*>(from);
  const typename S::Vector first = pair[0].vector;
  const typename S::Vector second = pair[1].vector;
  if constexpr (format == Format::planar) {
    return {first, second};
  }
  return {part_of<S, 0>(first, second), part_of<S, 1>(first, second)};
}

/// What `store` stores.
template <class S, Format format>
[[gnu::always_inline]] inline Complex<typename S::Vector> in_format(const Complex<typename S::Vector>& value) {
  if constexpr (format == Format::planar) {
    return {value.re, value.im};  // a copy of the whole would go through memory
  }
  return {put_together<S, 0>(value.re, value.im), put_together<S, 1>(value.re, value.im)};
}

template <class S, Format format>
[[gnu::always_inline]] inline void store(std::byte* to, const Complex<typename S::Vector>& value) {
  auto* const pair = reinterpret_cast<Unaligned<S>*>(to);
  const Complex<typename S::Vector> stored = in_format<S, format>(value);
  pair[0].vector = stored.re;
  pair[1].vector = stored.im;
}

/// One vector behind the other, as one of both.
template <class Half>
[[gnu::always_inline]] inline auto joined(Half a, Half b) {
  return [&]<int... i>(std::integer_sequence<int, i...>) __attribute__((always_inline)) {
    return __builtin_shufflevector(a, b, i...);
  }
  (std::make_integer_sequence<int, static_cast<int>(2 * sizeof(Half) / sizeof(a[0]))>());
}

/// A complex number of double precision at any address of a double.
template <class S>
struct [[gnu::packed, gnu::aligned(alignof(double)), gnu::may_alias]] Number {
  double __attribute__((vector_size(16))) parts;
};

/// A vector of complex numbers, each so many bytes behind `base`.
template <class S>
[[gnu::always_inline]] inline typename S::Vector gathered(const std::byte* base, const std::int32_t* places) {
  const auto number = [&](int i) __attribute__((always_inline)) {
    return reinterpret_cast<const Number<S>*>(base + places[i])->parts;
  };
  if constexpr (S::lanes == 2) {
    return number(0);
  } else if constexpr (S::lanes == 4) {
    return joined(number(0), number(1));
  } else {
    return joined(joined(number(0), number(1)), joined(number(2), number(3)));
  }
}

template <class S>
[[gnu::always_inline]] inline void scattered(std::byte* base, const std::int32_t* places, typename S::Vector vector) {
  unroll<S::lanes / 2>([&](auto i) __attribute__((always_inline)) {
    constexpr int first = 2 * static_cast<int>(i());
    reinterpret_cast<Number<S>*>(base + places[i])->parts = __builtin_shufflevector(vector, vector, first, first + 1);
  });
}

template <class S, Format format>
[[gnu::always_inline]] inline void stream(std::byte* to, const Complex<typename S::Vector>& value) {
  const Complex<typename S::Vector> stored = in_format<S, format>(value);
  S::stream(to, stored.re);
  S::stream(to + sizeof(typename S::Vector), stored.im);
}

/// Complex numbers from vectors of their parts in the order of memory, and back: where `load` would give its own order.
template <class S>
[[gnu::always_inline]] inline Complex<typename S::Vector> interleaved(const Complex<typename S::Vector>& parts) {
  return {chosen<S>(parts.re, parts.im, [](int i) { return i / 2 + i % 2 * S::lanes; }),
          chosen<S>(parts.re, parts.im, [](int i) { return (i + S::lanes) / 2 + i % 2 * S::lanes; })};
}

template <class S>
[[gnu::always_inline]] inline Complex<typename S::Vector> parts_of(typename S::Vector first,
                                                                   typename S::Vector second) {
  return {chosen<S>(first, second, [](int i) { return 2 * i; }),
          chosen<S>(first, second, [](int i) { return 2 * i + 1; })};
}

/// Stands in for the rows of a butterfly whose last vectors are filled in part.
template <class S, std::size_t radix>
struct PartialRows {
  static constexpr std::size_t pair_bytes = 2 * sizeof(typename S::Vector);
  alignas(typename S::Vector) std::byte rows[radix][pair_bytes];

  /// Has `from`, whose rows end `bytes` behind `at`, name these instead.
  [[gnu::noinline]] void take(const std::byte** from, std::int64_t at, std::int64_t bytes) noexcept {
    for (std::size_t q = 0; q < radix; ++q) {
      std::memset(rows[q], 0, pair_bytes);
      std::memcpy(rows[q], from[q] + at, static_cast<std::size_t>(bytes));
      from[q] = rows[q] - at;
    }
  }
  [[gnu::noinline]] void give(std::byte* const* to, std::int64_t at, std::int64_t bytes) const noexcept {
    for (std::size_t q = 0; q < radix; ++q) {
      std::memcpy(to[q] + at, rows[q], static_cast<std::size_t>(bytes));
    }
  }
};

/// Stores a pair `at` bytes into a row, which ends `left` bytes behind that.
template <class S, Format format>
[[gnu::always_inline]] inline void store_within(std::byte* row, std::int64_t at, std::int64_t left,
                                                const Complex<typename S::Vector>& value) {
  if (left < 2 * static_cast<std::int64_t>(sizeof(typename S::Vector))) [[unlikely]] {
    PartialRows<S, 1> part;
    store<S, format>(part.rows[0], value);
    part.give(&row, at, left);
  } else {
    store<S, format>(row + at, value);
  }
}

/// The legs of a butterfly in the work buffer, `leg_stride` vectors from one to the next.
template <class S, std::size_t radix>
[[gnu::always_inline]] inline Legs<typename S::Vector, radix> legs_at(const typename S::Vector* at,
                                                                      std::int64_t leg_stride) {
  Legs<typename S::Vector, radix> legs;
  unroll<radix>([&](auto q) __attribute__((always_inline)) {
    const auto* const leg = at + static_cast<std::int64_t>(q()) * leg_stride;
    legs[q] = {leg[0], leg[1]};
  });
  return legs;
}

template <class S, std::size_t radix>
[[gnu::always_inline]] inline void put_legs(typename S::Vector* at, std::int64_t leg_stride,
                                            const Legs<typename S::Vector, radix>& legs) {
  unroll<radix>([&](auto q) __attribute__((always_inline)) {
    auto* const leg = at + static_cast<std::int64_t>(q()) * leg_stride;
    leg[0] = legs[q].re;
    leg[1] = legs[q].im;
  });
}

/// Times a factor, which mostly is 1.
template <class S, std::size_t radix>
[[gnu::always_inline]] inline void scale(Legs<typename S::Vector, radix>& legs, typename S::Real factor) {
  if (factor != 1) [[unlikely]] {
    unroll<radix>([&](auto q) __attribute__((always_inline)) { legs[q] = {legs[q].re * factor, legs[q].im * factor}; });
  }
}

/// Each leg but the first times its root, the same for all pencils.
template <class S, std::size_t radix>
[[gnu::always_inline]] inline void twiddle(Legs<typename S::Vector, radix>& legs, const typename S::Real* roots) {
  unroll<radix - 1>([&](auto q) __attribute__((always_inline)) {
    legs[q + 1] = times(legs[q + 1], roots[2 * q], roots[2 * q + 1]);
  });
}

/// A row of the work buffer, in vectors.
template <class S>
[[gnu::always_inline]] inline std::int64_t work_row(std::int64_t row_bytes) {
  constexpr std::int64_t pair_bytes = 2 * sizeof(typename S::Vector);
  return 2 * ((row_bytes + pair_bytes - 1) / pair_bytes);
}

}  // namespace penstock::transform

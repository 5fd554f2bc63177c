// The bodies of the row passes: transforms of one pencil whose points follow one another, with vectors along it.
// Written once over a vector type, as those of pass_bodies.hpp.
#pragma once

#include <utility>

#include "penstock/transform/butterflies.hpp"
#include "penstock/transform/passes.hpp"
#include "penstock/transform/streaming.hpp"
#include "penstock/transform/vectors.hpp"

namespace penstock::transform {

// A length n is radices times the lanes of a vector. Decimation in frequency keeps the points of a vector together
// until sub-transforms are one vector long: as many butterflies are done at once as there are lanes. The last pass
// transposes as many of these vectors as there are lanes in registers. The backward transform is the forward one with
// real and imaginary parts exchanged at both ends.

/// Brings a part of a pencil into the cache while another one is worked on: some lines at each of a pass's butterflies.
struct RowPrefetch {
  const std::byte* next;
  const std::byte* end;
  std::int64_t bytes_at_once;

  template <class Real>
  [[gnu::always_inline]] explicit RowPrefetch(const RowWork<Real>& pass)
      : next(pass.ahead), end(pass.ahead + pass.ahead_bytes), bytes_at_once(pass.ahead_bytes_at_once) {}
  [[gnu::always_inline]] void ask() {
    for (const std::byte* const stop = next + bytes_at_once; next < stop && next < end; next += line_bytes) {
      __builtin_prefetch(next);
    }
  }
};

template <class S, std::size_t radix>
[[gnu::always_inline]] inline void twiddle_lanes(Legs<typename S::Vector, radix>& legs,
                                                 const typename S::Vector* roots) {
  unroll<radix - 1>([&](auto q) __attribute__((always_inline)) {
    const typename S::Vector re = roots[2 * q];
    const typename S::Vector im = roots[2 * q + 1];
    const Complex<typename S::Vector> leg = legs[q + 1];
    legs[q + 1] = {leg.re * re - leg.im * im, leg.re * im + leg.im * re};
  });
}

template <class S, std::size_t radix, bool is_backward>
void row_first_pass(const RowWork<typename S::Real>& pass) noexcept {
  using Vector = typename S::Vector;
  constexpr std::int64_t pair_bytes = 2 * sizeof(Vector);
  const std::int64_t leg_pairs = pass.inner_pairs;  // a vector of points of memory is a pair of vectors
  const auto* roots = reinterpret_cast<const Vector*>(pass.roots);
  auto* to = reinterpret_cast<Vector*>(pass.work);
  const std::byte* from = pass.source;
  RowPrefetch ahead(pass);
  for (std::int64_t i = 0; i < leg_pairs; ++i, from += pair_bytes, to += 2, roots += 2 * (radix - 1)) {
    ahead.ask();
    Legs<Vector, radix> legs;
    unroll<radix>([&](auto q) __attribute__((always_inline)) {
      const Complex<Vector> number =
          load<S, Format::complex>(from + static_cast<std::int64_t>(q()) * leg_pairs * pair_bytes);
      legs[q] = is_backward ? Complex<Vector>{number.im, number.re} : number;
    });
    legs = transformed<radix, Vector>(legs);
    twiddle_lanes<S, radix>(legs, roots);
    put_legs<S, radix>(to, 2 * leg_pairs, legs);
  }
}

template <class S, std::size_t radix>
void row_middle_pass(const RowWork<typename S::Real>& pass) noexcept {
  using Vector = typename S::Vector;
  const std::int64_t leg_pairs = pass.inner_pairs;
  auto* block = reinterpret_cast<Vector*>(pass.work);
  RowPrefetch ahead(pass);
  for (std::int64_t b = 0; b < pass.block_count; ++b, block += 2 * static_cast<std::int64_t>(radix) * leg_pairs) {
    const auto* roots = reinterpret_cast<const Vector*>(pass.roots);
    Vector* at = block;
    for (std::int64_t i = 0; i < leg_pairs; ++i, at += 2, roots += 2 * (radix - 1)) {
      ahead.ask();
      Legs<Vector, radix> legs = transformed<radix, Vector>(legs_at<S, radix>(at, 2 * leg_pairs));
      twiddle_lanes<S, radix>(legs, roots);
      put_legs<S, radix>(at, 2 * leg_pairs, legs);
    }
  }
}

/// `blocks` tells where the vector that gives output o, o + m, o + 2 m ... lies, m = n / lanes.
template <class S, bool is_backward>
void row_last_pass(const RowWork<typename S::Real>& pass) noexcept {
  using Vector = typename S::Vector;
  constexpr std::int64_t lanes = S::lanes;
  constexpr std::int64_t number_bytes = 2 * sizeof(typename S::Real);
  const std::int64_t count = pass.block_count;
  const typename S::Real factor = pass.factor;
  const auto* const work = reinterpret_cast<const std::byte*>(pass.work);
  const std::int32_t* const blocks = pass.blocks;
  const std::int64_t row_bytes = lanes * count * number_bytes;
  const bool is_streaming =
      pass.is_streaming && begins_line(pass.destination) && count * number_bytes % line_bytes == 0;
  StagedRow staged(pass.destination, row_bytes, pass.is_streaming && !is_streaming);
  RowPrefetch ahead(pass);
  for (std::int64_t next = 0; next < count; next += lanes) {
    ahead.ask();
    // The last group reaches back where it would be short, and stores again what is there already.
    const std::int64_t o = next + lanes <= count ? next : count - lanes;
    Vector re[lanes];
    Vector im[lanes];
    unroll<lanes>([&](auto i) __attribute__((always_inline)) {
      const auto* const pair = reinterpret_cast<const Vector*>(work + blocks[o + point_of_lane<S>(i())]);
      re[i] = pair[0];
      im[i] = pair[1];
    });
    turn<S, 1>(re);
    turn<S, 1>(im);
    Legs<Vector, lanes> legs;
    unroll<lanes>([&](auto i) __attribute__((always_inline)) { legs[point_of_lane<S>(i())] = {re[i], im[i]}; });
    legs = transformed<lanes, Vector>(legs);
    scale<S, lanes>(legs, factor);
    std::byte* const to = staged.to + o * number_bytes;
    unroll<lanes>([&](auto q) __attribute__((always_inline)) {
      const Complex<Vector> number = is_backward ? Complex<Vector>{legs[q].im, legs[q].re} : legs[q];
      std::byte* const at = to + static_cast<std::int64_t>(q()) * count * number_bytes;
      if (is_streaming) {
        stream<S, Format::complex>(at, number);
      } else {
        store<S, Format::complex>(at, number);
      }
    });
  }
  staged.template finish<S>();
}

// A length that is no multiple of the lanes has vectors of any butterflies of a pass, whose legs are loaded and stored
// one by one where they do not follow one another. A vector that would be short has butterflies of others again. Of
// double precision alone: numbers of 8 bytes take more of these instructions than transposing pencils does.

template <class S, std::size_t radix>
void row_ragged_pass(const RowWork<typename S::Real>& pass) noexcept {
  using Vector = typename S::Vector;
  using Real = typename S::Real;
  constexpr int half = S::lanes / 2;  // numbers of a vector
  const std::int32_t* from = pass.from;
  const std::int32_t* to = pass.to;
  const auto* roots = reinterpret_cast<const Vector*>(pass.roots);
  StagedRow staged(pass.destination, static_cast<std::int64_t>(radix) * pass.to_leg_bytes, pass.is_streaming);
  const Real re_factor = pass.factor;
  const Real im_factor = pass.factor * pass.to_sign;
  RowPrefetch ahead(pass);
  for (std::int64_t i = 0; i < pass.block_count; ++i, from += S::lanes, to += S::lanes) {
    ahead.ask();
    Legs<Vector, radix> legs;
    if (from[1] < 0) {
      unroll<radix>([&](auto q) __attribute__((always_inline)) {
        legs[q] =
            load<S, Format::complex>(pass.source + static_cast<std::int64_t>(q()) * pass.from_leg_bytes + from[0]);
      });
    } else {
      unroll<radix>([&](auto q) __attribute__((always_inline)) {
        const std::byte* const leg = pass.source + static_cast<std::int64_t>(q()) * pass.from_leg_bytes;
        const Vector first = gathered<S>(leg, from);
        const Vector second = gathered<S>(leg, from + half);
        legs[q] = {part_of<S, 0>(first, second), part_of<S, 1>(first, second)};
      });
    }
    if (pass.from_sign != 1) [[unlikely]] {
      unroll<radix>([&](auto q) __attribute__((always_inline)) { legs[q].im = legs[q].im * pass.from_sign; });
    }
    legs = transformed<radix, Vector>(legs);
    if (roots != nullptr) {
      twiddle_lanes<S, radix>(legs, roots);
      roots += 2 * (radix - 1);
    }
    if (re_factor != 1 || im_factor != 1) [[unlikely]] {
      unroll<radix>([&](auto q) __attribute__((always_inline)) {
        legs[q] = {legs[q].re * re_factor, legs[q].im * im_factor};
      });
    }
    if (to[1] < 0) {
      unroll<radix>([&](auto q) __attribute__((always_inline)) {
        store<S, Format::complex>(staged.to + static_cast<std::int64_t>(q()) * pass.to_leg_bytes + to[0], legs[q]);
      });
    } else {
      unroll<radix>([&](auto q) __attribute__((always_inline)) {
        std::byte* const leg = staged.to + static_cast<std::int64_t>(q()) * pass.to_leg_bytes;
        scattered<S>(leg, to, put_together<S, 0>(legs[q].re, legs[q].im));
        scattered<S>(leg, to + half, put_together<S, 1>(legs[q].re, legs[q].im));
      });
    }
  }
  staged.template finish<S>();
}

/// The numbers of a vector pair in the opposite order: that of the lanes is symmetric.
template <class S>
[[gnu::always_inline]] inline Complex<typename S::Vector> reversed(const Complex<typename S::Vector>& value) {
  constexpr auto mirror = [](int i) { return S::lanes - 1 - i; };
  return {chosen<S>(value.re, value.re, mirror), chosen<S>(value.im, value.im, mirror)};
}

// A real pencil of n points is a complex one z of m = n / 2, its even points the real parts. With E and O, the
// transforms of the even and of the odd points, Z = E + i O, and X_k = E_k + w^k O_k, X_m-k = conj(E_k - w^k O_k), w =
// exp(-2 pi i / n). `roots` are -i w^k, from k = 1 on; `block_count` is m, `inner_pairs` the vectors up to m / 2.

/// From Z to X; or from X to 2 Z, where the imaginary parts of points 0 and m, which real pencils do not have, count as
/// 0.
template <class S, bool is_untangling>
void row_real_pass(const RowWork<typename S::Real>& pass) noexcept {
  using Vector = typename S::Vector;
  using Real = typename S::Real;
  constexpr std::int64_t number_bytes = 2 * sizeof(Real);
  const std::int64_t m = pass.block_count;
  const Real half = is_untangling ? pass.factor / 2 : 1;
  const auto* roots = reinterpret_cast<const Vector*>(pass.roots);
  RowPrefetch ahead(pass);
  const auto* const from = reinterpret_cast<const Real*>(pass.source);
  auto* const to = reinterpret_cast<Real*>(pass.destination);
  if constexpr (is_untangling) {
    to[0] = (from[0] + from[1]) * pass.factor;
    to[1] = 0;
    to[2 * m] = (from[0] - from[1]) * pass.factor;
    to[2 * m + 1] = 0;
  } else {
    to[0] = from[0] + from[2 * m];
    to[1] = from[0] - from[2 * m];
  }
  for (std::int64_t i = 0, k = 1; i < pass.inner_pairs; ++i, k += S::lanes, roots += 2) {
    ahead.ask();
    const std::int64_t mirrored = m - k - S::lanes + 1;
    const Complex<Vector> a = load<S, Format::complex>(pass.source + k * number_bytes);
    const Complex<Vector> b = reversed<S>(load<S, Format::complex>(pass.source + mirrored * number_bytes));
    const Complex<Vector> even{(a.re + b.re) * half, (a.im - b.im) * half};
    const Complex<Vector> odd{(a.re - b.re) * half, (a.im + b.im) * half};
    const Vector re = roots[0];
    const Vector im = is_untangling ? roots[1] : -roots[1];
    const Complex<Vector> turned{odd.re * re - odd.im * im, odd.re * im + odd.im * re};
    store<S, Format::complex>(pass.destination + k * number_bytes, even + turned);
    store<S, Format::complex>(pass.destination + mirrored * number_bytes,
                              reversed<S>({even.re - turned.re, turned.im - even.im}));
  }
}

template <class S, std::size_t radix>
constexpr RowFunction<typename S::Real> ragged_pass_of() {
  if constexpr (sizeof(typename S::Real) == sizeof(double)) {
    return row_ragged_pass<S, radix>;
  }
  return nullptr;
}

template <class S, std::size_t... radix>
constexpr void add_passes(RowTable<typename S::Real>& table, std::index_sequence<radix...>) {
  std::size_t i = 0;
  ((table.radices[i++] = {static_cast<int>(radix), row_first_pass<S, radix, false>, row_first_pass<S, radix, true>,
                          row_middle_pass<S, radix>, ragged_pass_of<S, radix>()}),
   ...);
}

template <class S>
constexpr RowTable<typename S::Real> row_table() {
  RowTable<typename S::Real> table;
  table.lanes = S::lanes;
  add_passes<S>(table, RowRadices());
  table.last = row_last_pass<S, false>;
  table.last_backward = row_last_pass<S, true>;
  table.untangle = row_real_pass<S, true>;
  table.tangle = row_real_pass<S, false>;
  for (int lane = 0; lane < S::lanes; ++lane) {
    table.point_of_lane[lane] = point_of_lane<S>(static_cast<std::size_t>(lane));
  }
  return table;
}

}  // namespace penstock::transform

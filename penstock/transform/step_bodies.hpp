// The bodies of steps between passes: of Rader's algorithm, of real pencils, of sines and cosines. Written once over a
// vector type, as those of pass_bodies.hpp.
#pragma once

#include "penstock/transform/apart_bodies.hpp"
#include "penstock/transform/passes.hpp"
#include "penstock/transform/streaming.hpp"
#include "penstock/transform/vectors.hpp"

namespace penstock::transform {

template <class S, Format from_format, Format to_format>
void add_first(const PassWork<typename S::Real>& pass) noexcept {
  using Vector = typename S::Vector;
  constexpr std::int64_t pair_bytes = 2 * sizeof(Vector);
  for (std::int64_t k = 0; k < pass.inner_count; ++k) {
    const std::byte* from[1] = {pass.source.base + pass.source.offsets[k]};
    std::byte* const to = pass.destination.base + pass.destination.offsets[k];
    std::byte* const sums = pass.sums + k * pass.sum_stride;
    PartialRows<S, 1> part;
    for (std::int64_t at = 0; at < pass.row_bytes; at += pair_bytes) {
      if (pass.row_bytes - at < pair_bytes) [[unlikely]] {
        part.take(from, at, pass.row_bytes - at);
      }
      const Complex<Vector> point = load<S, from_format>(from[0] + at);
      const Complex<Vector> sum = load<S, Format::planar>(sums + at);
      store<S, Format::planar>(sums + at, {point.re + sum.re * pass.sum_factor, point.im + sum.im * pass.sum_factor});
      Complex<Vector> all = point + sum;
      if (pass.factors != nullptr) {
        all = times(all, pass.factors[2 * k], pass.factors[2 * k + 1]);
      }
      all = {all.re * pass.factor, all.im * pass.factor};
      store_within<S, to_format>(to, at, pass.stored_row_bytes - at, all);
    }
  }
}

/// Row k becomes p_k a_k + q_k b_k.
template <class S>
void combine(const PassWork<typename S::Real>& pass) noexcept {
  using Vector = typename S::Vector;
  constexpr std::int64_t pair_bytes = 2 * sizeof(Vector);
  const typename S::Real* factors = pass.factors;
  const typename S::Real factor = pass.factor;
  for (std::int64_t k = 0; k < pass.inner_count; ++k, factors += 4) {
    ask<S>(*pass.ahead);
    const std::byte* from[2] = {pass.source.base + pass.source.offsets[k],
                                pass.source.base + pass.source.offsets[k + pass.inner_count]};
    std::byte* const to = pass.destination.base + pass.destination.offsets[k];
    PartialRows<S, 2> taken;
    for (std::int64_t at = 0; at < pass.row_bytes; at += pair_bytes) {
      if (pass.row_bytes - at < pair_bytes) [[unlikely]] {
        taken.take(from, at, pass.row_bytes - at);
      }
      const Complex<Vector> a = load<S, Format::planar>(from[0] + at);
      const Complex<Vector> b = load<S, Format::planar>(from[1] + at);
      const Complex<Vector> all = times(a, factors[0], factors[1]) + times(b, factors[2], factors[3]);
      store_within<S, Format::planar>(to, at, pass.stored_row_bytes - at, {all.re * factor, all.im * factor});
    }
  }
}

/// Two real pencils transformed as one complex pencil Z: their spectra are (Z_k + conj Z_n-k) / 2 and
/// (Z_k - conj Z_n-k) / 2 i, of which the first n / 2 + 1 points are stored. `row_bytes` is of a row of Z.
template <class S>
void untangle(const PassWork<typename S::Real>& pass) noexcept {
  using Vector = typename S::Vector;
  constexpr std::int64_t pair_bytes = 2 * sizeof(Vector);
  const std::int64_t n = pass.inner_count;
  const typename S::Real half = pass.factor / 2;
  for (std::int64_t k = 0; k <= n / 2; ++k) {
    const std::byte* const row = pass.source.base + pass.source.offsets[k];
    const std::byte* const mirrored = pass.source.base + pass.source.offsets[k == 0 ? 0 : n - k];
    std::byte* const to = pass.destination.base + pass.destination.offsets[k];
    const bool is_streaming = pass.is_streaming && pass.row_bytes % line_bytes == 0 && begins_line(to);
    std::int64_t left = 2 * pass.row_bytes;  // of the row stored
    std::int64_t at = 0;
    for (std::int64_t i = 0; i < pass.row_bytes; i += pair_bytes) {
      const Complex<Vector> z = load<S, Format::planar>(row + i);
      const Complex<Vector> m = load<S, Format::planar>(mirrored + i);
      const Complex<Vector> spectra[2] = {{(z.re + m.re) * half, (z.im - m.im) * half},
                                          {(z.im + m.im) * half, (m.re - z.re) * half}};
      for (int pencil = 0; pencil < 2 && left > 0; ++pencil, left -= pair_bytes, at += pair_bytes) {
        const Complex<Vector> stored = interleaved<S>(spectra[pencil]);
        if (is_streaming && left >= pair_bytes) {
          stream<S, Format::planar>(to + at, stored);
        } else {
          store_within<S, Format::planar>(to, at, left, stored);
        }
      }
    }
  }
}

/// The other way: Z_k = A_k + i B_k and Z_n-k = conj A_k + i conj B_k. The imaginary parts of points 0 and n / 2, which
/// real pencils do not have, count as 0.
template <class S>
void tangle(const PassWork<typename S::Real>& pass) noexcept {
  using Vector = typename S::Vector;
  constexpr std::int64_t pair_bytes = 2 * sizeof(Vector);
  const std::int64_t n = pass.inner_count;
  for (std::int64_t k = 0; k <= n / 2; ++k) {
    const bool is_real = k == 0 || 2 * k == n;
    const std::byte* from[1] = {pass.source.base + pass.source.offsets[k]};
    std::byte* const row = pass.destination.base + pass.destination.offsets[k];
    std::byte* const mirrored = pass.destination.base + pass.destination.offsets[k == 0 ? 0 : n - k];
    std::int64_t left = 2 * pass.row_bytes;  // of the row read
    std::int64_t at = 0;
    for (std::int64_t i = 0; i < pass.row_bytes; i += pair_bytes) {
      Complex<Vector> spectra[2] = {};
      for (int pencil = 0; pencil < 2 && left > 0; ++pencil, left -= pair_bytes, at += pair_bytes) {
        PartialRows<S, 1> part;
        if (left < pair_bytes) [[unlikely]] {
          part.take(from, at, left);
        }
        const Complex<Vector> pair = load<S, Format::planar>(from[0] + at);
        spectra[pencil] = parts_of<S>(pair.re, pair.im);
        if (is_real) {
          spectra[pencil].im = Vector{};
        }
      }
      const Complex<Vector> a = spectra[0];
      const Complex<Vector> b = spectra[1];
      store<S, Format::planar>(mirrored + i, {a.re + b.im, b.re - a.im});
      store<S, Format::planar>(row + i, {a.re - b.im, a.im + b.re});
    }
  }
}

}  // namespace penstock::transform

// The bodies of all passes, written once over a vector type. Each set's file instantiates them with a type of its own
// unnamed namespace, so that no code compiled for one processor is ever linked into another's path.
#pragma once

#include <utility>

#include "penstock/transform/apart_bodies.hpp"
#include "penstock/transform/butterflies.hpp"
#include "penstock/transform/passes.hpp"
#include "penstock/transform/row_bodies.hpp"
#include "penstock/transform/step_bodies.hpp"
#include "penstock/transform/streaming.hpp"
#include "penstock/transform/vectors.hpp"

namespace penstock::transform {

/// How many butterflies ahead rows from memory are asked for.
inline constexpr std::int64_t butterflies_ahead = 4;

/// Butterfly of one vector pair of pencils in first_pass: `at` bytes into the rows `from`, to `to` in the work buffer.
template <class S, std::size_t radix, Format format>
[[gnu::always_inline]] inline void first_butterfly(const std::byte* const* from, std::int64_t at,
                                                   typename S::Vector* to, std::int64_t leg_stride,
                                                   const typename S::Real* roots) {
  using Vector = typename S::Vector;
  Legs<Vector, radix> legs;
  unroll<radix>([&](auto q) __attribute__((always_inline)) { legs[q] = load<S, format>(from[q] + at); });
  legs = transformed<radix, Vector>(legs);
  twiddle<S, radix>(legs, roots);
  put_legs<S, radix>(to, leg_stride, legs);
}

/// The same of rows that end `bytes` behind `at`, or that have factors, `factor_stride` numbers from leg to leg. A
/// function of its own keeps the pointers of whole pairs in registers.
template <class S, std::size_t radix, Format format>
[[gnu::noinline]] void first_butterfly_of_part(const std::byte* const* rows, std::int64_t at, std::int64_t bytes,
                                               typename S::Vector* to, std::int64_t leg_stride,
                                               const typename S::Real* roots, const typename S::Real* factors,
                                               std::int64_t factor_stride) noexcept {
  using Vector = typename S::Vector;
  const std::byte* from[radix];
  unroll<radix>([&](auto q) __attribute__((always_inline)) { from[q] = rows[q]; });
  PartialRows<S, radix> part;
  if (bytes < static_cast<std::int64_t>(part.pair_bytes)) {
    part.take(from, at, bytes);
  }
  Legs<Vector, radix> legs;
  unroll<radix>([&](auto q) __attribute__((always_inline)) { legs[q] = load<S, format>(from[q] + at); });
  if (factors != nullptr) {
    unroll<radix>([&](auto q) __attribute__((always_inline)) {
      const typename S::Real* const factor = factors + static_cast<std::int64_t>(q()) * factor_stride;
      legs[q] = times(legs[q], factor[0], factor[1]);
    });
  }
  legs = transformed<radix, Vector>(legs);
  twiddle<S, radix>(legs, roots);
  put_legs<S, radix>(to, leg_stride, legs);
}

/// Decimation in frequency: butterfly j takes rows j, j + m, j + 2 m ... of the source, m = n / radix, and its leg q is
/// point j of the sub-transform q.
template <class S, std::size_t radix, Format format>
void first_pass(const PassWork<typename S::Real>& pass) noexcept {
  using Vector = typename S::Vector;
  constexpr std::int64_t pair_bytes = 2 * sizeof(Vector);
  const std::int64_t row_bytes = pass.row_bytes;
  const std::int64_t row = work_row<S>(row_bytes);
  const std::int64_t leg_stride = pass.leg_rows * row;
  const std::int64_t butterflies = pass.inner_count;
  const std::byte* const base = pass.source.base;
  const std::int64_t* rows = pass.source.offsets;
  const typename S::Real* roots = pass.roots;
  const std::int64_t last_asking = pass.is_from_memory ? butterflies - butterflies_ahead : 0;
  const bool asks = pass.ahead->rows_left > 0;
  const std::int64_t whole_bytes = pass.factors == nullptr ? row_bytes : 0;
  for (std::int64_t j = 0; j < butterflies; ++j, ++rows, roots += 2 * (radix - 1)) {
    if (j < last_asking) {
      for (std::int64_t q = 0; q < static_cast<std::int64_t>(radix); ++q) {
        const std::byte* const ahead = base + rows[butterflies_ahead + q * butterflies];
        for (std::int64_t i = 0; i < row_bytes; i += line_bytes) {
          __builtin_prefetch(ahead + i);
        }
      }
    }
    if (asks) {
      ask<S>(*pass.ahead);
    }
    const std::byte* from[radix];
    unroll<radix>([&](auto q) __attribute__((always_inline)) {
      from[q] = base + rows[static_cast<std::int64_t>(q()) * butterflies];
    });
    auto* to = reinterpret_cast<Vector*>(pass.work) + pass.inner[j] * row;
    std::int64_t at = 0;
    for (; at + pair_bytes <= whole_bytes; at += pair_bytes, to += 2) {
      first_butterfly<S, radix, format>(from, at, to, leg_stride, roots);
    }
    if (at < row_bytes) [[unlikely]] {
      const std::byte* part[radix];
      unroll<radix>([&](auto q) __attribute__((always_inline)) { part[q] = from[q]; });
      const typename S::Real* const factors = pass.factors == nullptr ? nullptr : pass.factors + 2 * j;
      for (; at < row_bytes; at += pair_bytes, to += 2) {
        first_butterfly_of_part<S, radix, format>(part, at, row_bytes - at, to, leg_stride, roots, factors,
                                                  2 * butterflies);
      }
    }
  }
}

/// The same within the work buffer, for each of the sub-transforms that the passes before have left.
template <class S, std::size_t radix>
void middle_pass(const PassWork<typename S::Real>& pass) noexcept {
  using Vector = typename S::Vector;
  const std::int64_t row = work_row<S>(pass.row_bytes);
  const std::int64_t leg_stride = pass.leg_rows * row;
  const bool asks = pass.ahead->rows_left > 0;
  for (std::int64_t b = pass.block; b < pass.block_end; b += pass.block_step) {
    auto* const block = reinterpret_cast<Vector*>(pass.work) + pass.blocks[b] * row;
    const typename S::Real* roots = pass.roots;
    for (std::int64_t j = 0; j < pass.inner_count; ++j, roots += 2 * (radix - 1)) {
      if (asks) {
        ask<S>(*pass.ahead);
      }
      Vector* at = block + pass.inner[j] * row;
      for (Vector* const end = at + row; at < end; at += 2) {
        Legs<Vector, radix> legs = transformed<radix, Vector>(legs_at<S, radix>(at, leg_stride));
        twiddle<S, radix>(legs, roots);
        put_legs<S, radix>(at, leg_stride, legs);
      }
    }
  }
}

/// What is on the rows that last_pass gives.
template <class Real>
struct RowFactors {
  const Real* of_rows;  ///< a complex factor for each, or null
  std::int64_t leg_stride;
  Real of_all;
};

/// What a vector pair of pencils of butterfly `o` in last_pass gives.
template <class S, std::size_t radix>
[[gnu::always_inline]] inline Legs<typename S::Vector, radix> last_butterfly(
    const typename S::Vector* from, std::int64_t leg_stride, std::int64_t o,
    const RowFactors<typename S::Real>& factors) {
  using Vector = typename S::Vector;
  Legs<Vector, radix> legs = transformed<radix, Vector>(legs_at<S, radix>(from, leg_stride));
  if (factors.of_rows != nullptr) [[unlikely]] {
    unroll<radix>([&](auto q) __attribute__((always_inline)) {
      const typename S::Real* const root =
          factors.of_rows + 2 * (o + static_cast<std::int64_t>(q()) * factors.leg_stride);
      legs[q] = times(legs[q], root[0], root[1]);
    });
  }
  scale<S, radix>(legs, factors.of_all);
  return legs;
}

/// Stores it to rows that end `bytes` behind `at`.
template <class S, std::size_t radix, Format format>
[[gnu::noinline]] void last_butterfly_of_part(const typename S::Vector* from, std::int64_t leg_stride, std::int64_t o,
                                              const RowFactors<typename S::Real>& factors, std::byte* const* to,
                                              std::int64_t at, std::int64_t bytes) noexcept {
  const Legs<typename S::Vector, radix> legs = last_butterfly<S, radix>(from, leg_stride, o, factors);
  PartialRows<S, radix> part;
  unroll<radix>([&](auto q) __attribute__((always_inline)) { store<S, format>(part.rows[q], legs[q]); });
  part.give(to, at, bytes);
}

/// Butterfly o gives rows o, o + m, o + 2 m ... of the destination, m = n / radix, from the block that the list names:
/// what the passes have left in the order of reversed digits leaves in its own.
template <class S, std::size_t radix, Format format>
void last_pass(const PassWork<typename S::Real>& pass) noexcept {
  using Vector = typename S::Vector;
  constexpr std::int64_t pair_bytes = 2 * sizeof(Vector);
  const std::int64_t row_bytes = pass.row_bytes;
  const std::int64_t row = work_row<S>(row_bytes);
  const std::int64_t leg_stride = pass.leg_rows * row;
  const std::int64_t butterflies = pass.block_count;
  const RowFactors<typename S::Real> factors{pass.factors, butterflies, pass.factor};
  constexpr std::int64_t max_bytes = bytes_together / (static_cast<std::int64_t>(radix) * line_bytes) * line_bytes;
  const bool asks = pass.ahead->rows_left > 0;
  for (std::int64_t o = pass.block; o < pass.block_end; o += pass.block_step) {
    const std::int64_t* const rows = pass.destination.offsets + o;
    if (asks) {
      ask<S>(*pass.ahead);
    }
    std::byte* to[radix];
    bool are_lines = row_bytes % line_bytes == 0;
    unroll<radix>([&](auto q) __attribute__((always_inline)) {
      to[q] = pass.destination.base + rows[static_cast<std::int64_t>(q()) * butterflies];
      are_lines &= begins_line(to[q]);
    });
    const bool is_streaming = pass.is_streaming && (are_lines || row_bytes >= min_ragged_bytes);
    const auto* from = reinterpret_cast<const Vector*>(pass.work) + pass.blocks[o] * row;
    alignas(line_bytes) std::byte lines[radix][max_bytes + line_bytes];
    for (std::int64_t at = 0; at < row_bytes;) {
      const std::int64_t begin = at;
      const std::int64_t end = is_streaming && row_bytes - begin > max_bytes ? begin + max_bytes : row_bytes;
      std::byte* rows_to[radix];
      unroll<radix>([&](auto q) __attribute__((always_inline)) {
        rows_to[q] = is_streaming ? lines[q] + bytes_into_line(to[q]) - begin : to[q];
      });
      for (; at + pair_bytes <= end; at += pair_bytes, from += 2) {
        const Legs<Vector, radix> legs = last_butterfly<S, radix>(from, leg_stride, o, factors);
        unroll<radix>([&](auto q) __attribute__((always_inline)) { store<S, format>(rows_to[q] + at, legs[q]); });
      }
      if (at < end && end == row_bytes) [[unlikely]] {
        std::byte* part[radix];
        unroll<radix>([&](auto q) __attribute__((always_inline)) { part[q] = rows_to[q]; });
        // Copies, so that the loop above has its own in registers.
        last_butterfly_of_part<S, radix, format>(from, leg_stride, o, RowFactors<typename S::Real>(factors), part, at,
                                                 end - at);
        at = end;
      }
      for (std::size_t q = 0; is_streaming && q < radix; ++q) {
        if (are_lines) {
          stream_bytes<S>(to[q] + begin, lines[q], at - begin);
        } else {
          stream_ragged<S>(to[q], lines[q], begin, at, row_bytes);
        }
      }
    }
  }
}

template <class S, std::size_t... radix>
constexpr void add_passes(PassTable<typename S::Real>& table, std::index_sequence<radix...>) {
  std::size_t i = 0;
  ((table.radices[i++] = {.radix = static_cast<int>(radix),
                          .first = {first_pass<S, radix, Format::complex>, first_pass<S, radix, Format::planar>},
                          .middle = middle_pass<S, radix>,
                          .last = {last_pass<S, radix, Format::complex>, last_pass<S, radix, Format::planar>},
                          .first_apart = first_pass_apart<S, radix>,
                          .last_apart = last_pass_apart<S, radix>}),
   ...);
}

/// The table of vector type S, whose rows are transformed by the vector types `Row`.
template <class S, class... Row>
constexpr PassTable<typename S::Real> pass_table(const char* name, int vector_registers) {
  using enum Format;
  PassTable<typename S::Real> table;
  table.name = name;
  table.lanes = S::lanes;
  table.vector_registers = vector_registers;
  add_passes<S>(table, Radices());
  table.gather[0] = gather<S, 2>;
  table.gather[1] = gather<S, 1>;
  table.scatter[0] = scatter<S, 2>;
  table.scatter[1] = scatter<S, 1>;
  table.add_first[0][0] = add_first<S, complex, complex>;
  table.add_first[0][1] = add_first<S, complex, planar>;
  table.add_first[1][0] = add_first<S, planar, complex>;
  table.add_first[1][1] = add_first<S, planar, planar>;
  table.combine = combine<S>;
  table.untangle = untangle<S>;
  table.tangle = tangle<S>;
  std::size_t i = 0;
  ((table.rows[i++] = row_table<Row>()), ...);
  return table;
}

}  // namespace penstock::transform

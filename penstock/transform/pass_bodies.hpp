// The bodies of all passes, written once over a vector type. Each set's file instantiates them with a type of its own
// unnamed namespace, so that no code compiled for one processor is ever linked into another's path.
#pragma once

#include <cstring>
#include <utility>

#include "penstock/transform/butterflies.hpp"
#include "penstock/transform/passes.hpp"
#include "penstock/transform/row_bodies.hpp"
#include "penstock/transform/vectors.hpp"

namespace penstock::transform {

template <class S, std::size_t radix>
[[gnu::always_inline]] inline void twiddle(Legs<typename S::Vector, radix>& legs, const typename S::Real* roots) {
  unroll<radix - 1>([&](auto q) __attribute__((always_inline)) {
    legs[q + 1] = times(legs[q + 1], roots[2 * q], roots[2 * q + 1]);
  });
}

/// Stands in for the rows of a butterfly whose last vectors are filled in part.
template <class S, std::size_t radix>
struct Part {
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

inline constexpr std::int64_t line_bytes = 64;
/// How many butterflies ahead rows from memory are asked for.
inline constexpr std::int64_t butterflies_ahead = 4;

/// A row of the work buffer, in vectors.
template <class S>
[[gnu::always_inline]] inline std::int64_t work_row(std::int64_t row_bytes) {
  constexpr std::int64_t pair_bytes = 2 * sizeof(typename S::Vector);
  return 2 * ((row_bytes + pair_bytes - 1) / pair_bytes);
}

/// Decimation in frequency: butterfly j takes rows j, j + m, j + 2 m ... of the source, m = n / radix, and its leg q is
/// point j of the sub-transform q.
template <class S, std::size_t radix>
void first_pass(const PassWork<typename S::Real>& pass) noexcept {
  using Vector = typename S::Vector;
  constexpr std::int64_t pair_bytes = 2 * sizeof(Vector);
  const std::int64_t row = work_row<S>(pass.row_bytes);
  const std::int64_t leg_stride = pass.leg_rows * row;
  const std::int64_t butterflies = pass.inner_count;
  const std::int64_t* rows = pass.source.offsets;
  const typename S::Real* roots = pass.roots;
  for (std::int64_t j = 0; j < butterflies; ++j, ++rows, roots += 2 * (radix - 1)) {
    if (pass.is_from_memory && j + butterflies_ahead < butterflies) {
      for (std::int64_t q = 0; q < static_cast<std::int64_t>(radix); ++q) {
        const std::byte* const ahead = pass.source.base + rows[butterflies_ahead + q * butterflies];
        for (std::int64_t i = 0; i < pass.row_bytes; i += line_bytes) {
          __builtin_prefetch(ahead + i);
        }
      }
    }
    const std::byte* from[radix];
    for (std::int64_t q = 0; q < static_cast<std::int64_t>(radix); ++q) {
      from[q] = pass.source.base + rows[q * butterflies];
    }
    auto* to = reinterpret_cast<Vector*>(pass.work) + pass.inner[j] * row;
    Part<S, radix> part;
    std::int64_t at = 0;
    for (std::int64_t left = pass.row_bytes; left > 0; left -= pair_bytes, at += pair_bytes, to += 2) {
      if (left < pair_bytes) [[unlikely]] {
        part.take(from, at, left);
      }
      Legs<Vector, radix> legs;
      unroll<radix>([&](auto q) __attribute__((always_inline)) { legs[q] = load<S>(from[q] + at); });
      legs = transformed<radix, Vector>(legs);
      twiddle<S, radix>(legs, roots);
      unroll<radix>([&](auto q) __attribute__((always_inline)) {
        Vector* const leg = to + static_cast<std::int64_t>(q()) * leg_stride;
        leg[0] = legs[q].re;
        leg[1] = legs[q].im;
      });
    }
  }
}

/// The same within the work buffer, for each of the sub-transforms that the passes before have left.
template <class S, std::size_t radix>
void middle_pass(const PassWork<typename S::Real>& pass) noexcept {
  using Vector = typename S::Vector;
  const std::int64_t row = work_row<S>(pass.row_bytes);
  const std::int64_t leg_stride = pass.leg_rows * row;
  for (std::int64_t b = 0; b < pass.block_count; ++b) {
    auto* const block = reinterpret_cast<Vector*>(pass.work) + pass.blocks[b] * row;
    const typename S::Real* roots = pass.roots;
    for (std::int64_t j = 0; j < pass.inner_count; ++j, roots += 2 * (radix - 1)) {
      Vector* at = block + pass.inner[j] * row;
      for (Vector* const end = at + row; at < end; at += 2) {
        Legs<Vector, radix> legs;
        unroll<radix>([&](auto q) __attribute__((always_inline)) {
          const Vector* const leg = at + static_cast<std::int64_t>(q()) * leg_stride;
          legs[q] = {leg[0], leg[1]};
        });
        legs = transformed<radix, Vector>(legs);
        twiddle<S, radix>(legs, roots);
        unroll<radix>([&](auto q) __attribute__((always_inline)) {
          Vector* const leg = at + static_cast<std::int64_t>(q()) * leg_stride;
          leg[0] = legs[q].re;
          leg[1] = legs[q].im;
        });
      }
    }
  }
}

/// Butterfly o gives rows o, o + m, o + 2 m ... of the destination, m = n / radix, from the block that the list names:
/// what the passes have left in the order of reversed digits leaves in its own.
template <class S, std::size_t radix>
void last_pass(const PassWork<typename S::Real>& pass) noexcept {
  using Vector = typename S::Vector;
  constexpr std::int64_t pair_bytes = 2 * sizeof(Vector);
  const std::int64_t row = work_row<S>(pass.row_bytes);
  const std::int64_t leg_stride = pass.leg_rows * row;
  const std::int64_t butterflies = pass.block_count;
  const std::int64_t* rows = pass.destination.offsets;
  const typename S::Real* factors = pass.factors;
  const typename S::Real factor = pass.factor;
  const bool is_streaming = pass.is_streaming;
  for (std::int64_t o = 0; o < butterflies; ++o, ++rows) {
    std::byte* to[radix];
    for (std::int64_t q = 0; q < static_cast<std::int64_t>(radix); ++q) {
      to[q] = pass.destination.base + rows[q * butterflies];
    }
    const auto* from = reinterpret_cast<const Vector*>(pass.work) + pass.blocks[o] * row;
    std::int64_t at = 0;
    for (std::int64_t left = pass.row_bytes; left > 0; left -= pair_bytes, at += pair_bytes, from += 2) {
      Legs<Vector, radix> legs;
      unroll<radix>([&](auto q) __attribute__((always_inline)) {
        const Vector* const leg = from + static_cast<std::int64_t>(q()) * leg_stride;
        legs[q] = {leg[0], leg[1]};
      });
      legs = transformed<radix, Vector>(legs);
      if (factors != nullptr) {
        unroll<radix>([&](auto q) __attribute__((always_inline)) {
          const typename S::Real* const root = factors + 2 * (o + static_cast<std::int64_t>(q()) * butterflies);
          legs[q] = times(legs[q], root[0], root[1]);
        });
      }
      if (factor != 1) {
        unroll<radix>([&](auto q) __attribute__((always_inline)) {
          legs[q] = {legs[q].re * factor, legs[q].im * factor};
        });
      }
      if (left < pair_bytes) [[unlikely]] {
        Part<S, radix> part;
        unroll<radix>([&](auto q) __attribute__((always_inline)) { store<S>(part.rows[q], legs[q]); });
        part.give(to, at, left);
      } else if (is_streaming) {
        unroll<radix>([&](auto q) __attribute__((always_inline)) { stream<S>(to[q] + at, legs[q]); });
      } else {
        unroll<radix>([&](auto q) __attribute__((always_inline)) { store<S>(to[q] + at, legs[q]); });
      }
    }
  }
}

/// Points of a tile of pencils that lie one after the other in each pencil: the tile of S::lanes pencils of
/// half as many points becomes, for each point, a pair of vectors as memory would have them had the pencils been adjacent.
template <class S>
struct Square {
  using Vector = typename S::Vector;
  static constexpr std::int64_t points = S::lanes / 2;
  static constexpr std::int64_t element_bytes = sizeof(Vector) / points;
  Vector pairs[points][2];

  [[gnu::always_inline]] static bool follow_one_another(const std::int64_t* offsets) {
    bool is_run = true;
    for (std::int64_t k = 1; k < points; ++k) {
      is_run &= offsets[k] - offsets[k - 1] == element_bytes;
    }
    return is_run;
  }

  /// From `pencils` pencils, 1 or more, of which it may need fewer.
  [[gnu::always_inline]] void load(const std::byte* base, const std::int64_t* offsets, std::int64_t stride,
                                   std::int64_t pencils) {
    const bool is_run = follow_one_another(offsets);
    for (std::int64_t half = 0; half < 2; ++half) {
      Vector rows[points];
      for (std::int64_t i = 0; i < points; ++i) {
        const std::int64_t pencil = half * points + i;
        const std::byte* const from = base + (pencil < pencils ? pencil : pencils - 1) * stride;
        if (is_run) [[likely]] {
          rows[i] = *reinterpret_cast<const typename S::Unaligned*>(from + offsets[0]);
        } else {
          for (std::int64_t k = 0; k < points; ++k) {
            std::memcpy(reinterpret_cast<std::byte*>(&rows[i]) + k * element_bytes, from + offsets[k], element_bytes);
          }
        }
      }
      turn<S, 2>(rows);
      for (std::int64_t k = 0; k < points; ++k) {
        pairs[k][half] = rows[k];
      }
    }
  }

  [[gnu::always_inline]] void store(std::byte* base, const std::int64_t* offsets, std::int64_t stride,
                                    std::int64_t pencils) const {
    const bool is_run = follow_one_another(offsets);
    for (std::int64_t half = 0; half < 2; ++half) {
      Vector rows[points];
      for (std::int64_t k = 0; k < points; ++k) {
        rows[k] = pairs[k][half];
      }
      turn<S, 2>(rows);
      for (std::int64_t i = 0; i < points; ++i) {
        const std::int64_t pencil = half * points + i;
        if (pencil >= pencils) [[unlikely]] {
          return;
        }
        std::byte* const to = base + pencil * stride;
        if (is_run) [[likely]] {
          *reinterpret_cast<typename S::Unaligned*>(to + offsets[0]) = rows[i];
        } else {
          for (std::int64_t k = 0; k < points; ++k) {
            std::memcpy(to + offsets[k], reinterpret_cast<const std::byte*>(&rows[i]) + k * element_bytes, element_bytes);
          }
        }
      }
    }
  }
};

/// Where a group of butterflies begins: the last one reaches back where it would be short, and does what is done again.
template <class S>
[[gnu::always_inline]] inline std::int64_t group_begin(std::int64_t j, std::int64_t butterflies) {
  return j + Square<S>::points <= butterflies ? j : butterflies - Square<S>::points;
}

/// As first_pass, from pencils apart; there are at least half as many butterflies as lanes.
template <class S, std::size_t radix>
void first_pass_apart(const PassWork<typename S::Real>& pass) noexcept {
  using Vector = typename S::Vector;
  constexpr std::int64_t lanes = S::lanes;
  const std::int64_t row = work_row<S>(pass.row_bytes);
  const std::int64_t leg_stride = pass.leg_rows * row;
  const std::int64_t butterflies = pass.inner_count;
  for (std::int64_t next = 0; next < butterflies; next += Square<S>::points) {
    const std::int64_t j = group_begin<S>(next, butterflies);
    for (std::int64_t pencil = 0; pencil < pass.pencils; pencil += lanes) {
      Square<S> squares[radix];
      for (std::size_t q = 0; q < radix; ++q) {
        squares[q].load(pass.source.base + pencil * pass.source.pencil_stride,
                        pass.source.offsets + j + static_cast<std::int64_t>(q) * butterflies, pass.source.pencil_stride,
                        pass.pencils - pencil);
      }
      for (std::int64_t k = 0; k < Square<S>::points; ++k) {
              Legs<Vector, radix> legs;
        unroll<radix>([&](auto q) __attribute__((always_inline)) {
          const Vector* const pair = squares[q].pairs[k];
          legs[q] = {part_of<S, 0>(pair[0], pair[1]), part_of<S, 1>(pair[0], pair[1])};
        });
        legs = transformed<radix, Vector>(legs);
        twiddle<S, radix>(legs, pass.roots + 2 * (radix - 1) * static_cast<std::size_t>(j + k));
        auto* const to = reinterpret_cast<Vector*>(pass.work) + pass.inner[j + k] * row + pencil / lanes * 2;
        unroll<radix>([&](auto q) __attribute__((always_inline)) {
          Vector* const leg = to + static_cast<std::int64_t>(q()) * leg_stride;
          leg[0] = legs[q].re;
          leg[1] = legs[q].im;
        });
      }
    }
  }
}

/// As last_pass, to pencils apart; there are at least half as many butterflies as lanes, and no factors of rows.
template <class S, std::size_t radix>
void last_pass_apart(const PassWork<typename S::Real>& pass) noexcept {
  using Vector = typename S::Vector;
  constexpr std::int64_t lanes = S::lanes;
  const std::int64_t row = work_row<S>(pass.row_bytes);
  const std::int64_t leg_stride = pass.leg_rows * row;
  const std::int64_t butterflies = pass.block_count;
  const typename S::Real factor = pass.factor;
  for (std::int64_t next = 0; next < butterflies; next += Square<S>::points) {
    const std::int64_t o = group_begin<S>(next, butterflies);
    for (std::int64_t pencil = 0; pencil < pass.pencils; pencil += lanes) {
      Square<S> squares[radix];
      for (std::int64_t k = 0; k < Square<S>::points; ++k) {
              const auto* const from = reinterpret_cast<const Vector*>(pass.work) + pass.blocks[o + k] * row + pencil / lanes * 2;
        Legs<Vector, radix> legs;
        unroll<radix>([&](auto q) __attribute__((always_inline)) {
          const Vector* const leg = from + static_cast<std::int64_t>(q()) * leg_stride;
          legs[q] = {leg[0], leg[1]};
        });
        legs = transformed<radix, Vector>(legs);
        if (factor != 1) {
          unroll<radix>([&](auto q) __attribute__((always_inline)) {
            legs[q] = {legs[q].re * factor, legs[q].im * factor};
          });
        }
        unroll<radix>([&](auto q) __attribute__((always_inline)) {
          Vector* const pair = squares[q].pairs[k];
          pair[0] = put_together<S, 0>(legs[q].re, legs[q].im);
          pair[1] = put_together<S, 1>(legs[q].re, legs[q].im);
        });
      }
      for (std::size_t q = 0; q < radix; ++q) {
        squares[q].store(pass.destination.base + pencil * pass.destination.pencil_stride,
                         pass.destination.offsets + o + static_cast<std::int64_t>(q) * butterflies,
                         pass.destination.pencil_stride, pass.pencils - pencil);
      }
    }
  }
}

/// From pencils apart to adjacent ones, whose rows have whole vectors; fewer points than a vector's one by one.
template <class S>
void gather(const PassWork<typename S::Real>& pass) noexcept {
  constexpr std::int64_t lanes = S::lanes;
  constexpr std::int64_t number_bytes = Square<S>::element_bytes;
  for (std::int64_t next = 0; next < pass.inner_count; next += Square<S>::points) {
    if (pass.inner_count < Square<S>::points) {
      for (std::int64_t k = 0; k < pass.inner_count; ++k) {
        for (std::int64_t pencil = 0; pencil < pass.pencils; ++pencil) {
          std::memcpy(pass.destination.base + pass.destination.offsets[k] + pencil * number_bytes,
                      pass.source.base + pass.source.offsets[k] + pencil * pass.source.pencil_stride, number_bytes);
        }
      }
      return;
    }
    const std::int64_t k = group_begin<S>(next, pass.inner_count);
    for (std::int64_t pencil = 0; pencil < pass.pencils; pencil += lanes) {
      Square<S> square;
      square.load(pass.source.base + pencil * pass.source.pencil_stride, pass.source.offsets + k,
                  pass.source.pencil_stride, pass.pencils - pencil);
      for (std::int64_t i = 0; i < Square<S>::points; ++i) {
        std::memcpy(pass.destination.base + pass.destination.offsets[k + i] + pencil * number_bytes, square.pairs[i],
                    sizeof(square.pairs[i]));
      }
    }
  }
}

/// The other way.
template <class S>
void scatter(const PassWork<typename S::Real>& pass) noexcept {
  constexpr std::int64_t lanes = S::lanes;
  constexpr std::int64_t number_bytes = Square<S>::element_bytes;
  for (std::int64_t next = 0; next < pass.inner_count; next += Square<S>::points) {
    if (pass.inner_count < Square<S>::points) {
      for (std::int64_t k = 0; k < pass.inner_count; ++k) {
        for (std::int64_t pencil = 0; pencil < pass.pencils; ++pencil) {
          std::memcpy(pass.destination.base + pass.destination.offsets[k] + pencil * pass.destination.pencil_stride,
                      pass.source.base + pass.source.offsets[k] + pencil * number_bytes, number_bytes);
        }
      }
      return;
    }
    const std::int64_t k = group_begin<S>(next, pass.inner_count);
    for (std::int64_t pencil = 0; pencil < pass.pencils; pencil += lanes) {
      Square<S> square;
      for (std::int64_t i = 0; i < Square<S>::points; ++i) {
        std::memcpy(square.pairs[i], pass.source.base + pass.source.offsets[k + i] + pencil * number_bytes,
                    sizeof(square.pairs[i]));
      }
      square.store(pass.destination.base + pencil * pass.destination.pencil_stride, pass.destination.offsets + k,
                   pass.destination.pencil_stride, pass.pencils - pencil);
    }
  }
}

template <class S>
void add_first(const PassWork<typename S::Real>& pass) noexcept {
  using Vector = typename S::Vector;
  constexpr std::int64_t pair_bytes = 2 * sizeof(Vector);
  const std::byte* from[1] = {pass.source.base + pass.source.offsets[0]};
  std::byte* const to[1] = {pass.destination.base + pass.destination.offsets[0]};
  Part<S, 1> part;
  std::int64_t at = 0;
  for (std::int64_t left = pass.row_bytes; left > 0; left -= pair_bytes, at += pair_bytes) {
    if (left < pair_bytes) [[unlikely]] {
      part.take(from, at, left);
    }
    const Complex<Vector> point = load<S>(from[0] + at);
    const Complex<Vector> sum = load<S>(pass.sums + at);
    store<S>(pass.sums + at, {point.re + sum.re * pass.sum_factor, point.im + sum.im * pass.sum_factor});
    Complex<Vector> all = point + sum;
    if (pass.factors != nullptr) {
      all = times(all, pass.factors[0], pass.factors[1]);
    }
    all = {all.re * pass.factor, all.im * pass.factor};
    if (left < pair_bytes) [[unlikely]] {
      store<S>(part.rows[0], all);
      part.give(to, at, left);
    } else {
      store<S>(to[0] + at, all);
    }
  }
}

template <class S, std::size_t... radix>
constexpr void add_passes(PassTable<typename S::Real>& table, std::index_sequence<radix...>) {
  std::size_t i = 0;
  ((table.radices[i++] = {static_cast<int>(radix), first_pass<S, radix>, middle_pass<S, radix>, last_pass<S, radix>,
                          first_pass_apart<S, radix>, last_pass_apart<S, radix>}),
   ...);
}

/// The table of vector type S, whose rows are transformed by the vector types `Row`.
template <class S, class... Row>
constexpr PassTable<typename S::Real> pass_table(const char* name, int vector_registers) {
  PassTable<typename S::Real> table;
  table.name = name;
  table.lanes = S::lanes;
  table.vector_registers = vector_registers;
  add_passes<S>(table, Radices());
  table.points = S::lanes / 2;
  table.gather = gather<S>;
  table.scatter = scatter<S>;
  table.add_first = add_first<S>;
  std::size_t i = 0;
  ((table.rows[i++] = row_table<Row>()), ...);
  return table;
}

}  // namespace penstock::transform

// The bodies of the passes from and to pencils that are not adjacent: squares of them are transposed in registers.
#pragma once

#include <cstring>
#include <utility>

#include "penstock/transform/butterflies.hpp"
#include "penstock/transform/passes.hpp"
#include "penstock/transform/square.hpp"
#include "penstock/transform/streaming.hpp"
#include "penstock/transform/vectors.hpp"

namespace penstock::transform {

/// One step of a pass. Into the second level: the first has the work.
template <class S>
[[gnu::always_inline]] inline void ask(Prefetch& ahead) {
  for (std::int64_t left = ahead.lines_at_once; left > 0 && ahead.rows_left > 0;) {
    const std::int64_t lines = left < ahead.lines_left ? left : ahead.lines_left;
    const std::byte* next = ahead.next;
    for (std::int64_t i = 0; i < lines; ++i, next += ahead.line_stride) {
      __builtin_prefetch(next, 0, 2);
    }
    ahead.next = next;
    left -= lines;
    ahead.lines_left -= lines;
    if (ahead.lines_left == 0 && --ahead.rows_left > 0) {
      ahead.base += ahead.row_stride;
      ahead.offset += ahead.offset_step;
      ahead.next = ahead.base + *ahead.offset;
      ahead.lines_left = ahead.lines;
    }
  }
}

/// Complex points of a line of the cache.
template <class S>
inline constexpr std::int64_t points_of_line = line_bytes / (2 * static_cast<std::int64_t>(sizeof(typename S::Real)));

/// Whether last_pass_apart gives nothing but whole lines.
template <class S, std::size_t radix>
[[gnu::noinline]] bool fills_lines(const PassWork<typename S::Real>& pass) noexcept {
  constexpr std::int64_t number_bytes = 2 * sizeof(typename S::Real);
  const std::int64_t* const offsets = pass.destination.offsets;
  const std::int64_t count = pass.block_count;
  bool fills = count % points_of_line<S> == 0 && pass.destination.pencil_stride % line_bytes == 0;
  for (std::int64_t q = 0; fills && q < static_cast<std::int64_t>(radix); ++q) {
    fills = begins_line(pass.destination.base + offsets[q * count]);
    for (std::int64_t k = q * count + 1; fills && k < (q + 1) * count; ++k) {
      fills = offsets[k] - offsets[k - 1] == number_bytes;
    }
  }
  return fills;
}

/// Stores squares beside each other past the cache: of each pencil all that they have, `lines` whole lines.
template <class S>
[[gnu::always_inline]] inline void stream_lines(Square<S, 2>* squares, std::int64_t lines, std::byte* to,
                                                std::int64_t stride, std::int64_t pencils) {
  constexpr std::int64_t points = Square<S, 2>::points;
  const std::int64_t count = lines * points_of_line<S> / points;
  for (std::int64_t part = 0; part < 2; ++part) {
    for (std::int64_t square = 0; square < count; ++square) {
      squares[square].turn_part(part);
    }
    for (std::int64_t i = 0; i < points; ++i) {
      const std::int64_t pencil = part * points + i;
      if (pencil >= pencils) [[unlikely]] {
        return;
      }
      for (std::int64_t square = 0; square < count; ++square) {
        S::stream(to + pencil * stride + square * static_cast<std::int64_t>(sizeof(typename S::Vector)),
                  squares[square].of_point[i][part]);
      }
    }
  }
}

/// How many lines of a pencil ahead a gather asks.
inline constexpr std::int64_t lines_ahead = 2;

/// Asks for a line of each pencil.
[[gnu::always_inline]] inline void prefetch_lines(const std::byte* base, std::int64_t offset, std::int64_t stride,
                                                  std::int64_t pencils) {
  for (std::int64_t pencil = 0; pencil < pencils; ++pencil) {
    __builtin_prefetch(base + offset + pencil * stride);
  }
}

/// A step of a pass for each butterfly of a square.
template <class S>
[[gnu::always_inline]] inline void prefetch_square(Prefetch& ahead) {
  for (std::int64_t k = 0; k < Square<S, 2>::points; ++k) {
    ask<S>(ahead);
  }
}

/// As first_pass, from pencils apart; there are at least half as many butterflies as lanes.
template <class S, std::size_t radix>
void first_pass_apart(const PassWork<typename S::Real>& pass) noexcept {
  using Vector = typename S::Vector;
  constexpr std::int64_t lanes = S::lanes;
  const std::int64_t row = work_row<S>(pass.row_bytes);
  const std::int64_t leg_stride = pass.leg_rows * row;
  const std::int64_t butterflies = pass.inner_count;
  // Vector after vector of pencils: what lies in whole pages apart shares a set of the cache, and more would not stay.
  for (std::int64_t pencil = 0; pencil < pass.pencils; pencil += lanes) {
    const std::byte* const base = pass.source.base + pencil * pass.source.pencil_stride;
    const std::int64_t pencils = pass.pencils - pencil;
    for (std::int64_t next = 0; next < butterflies; next += Square<S, 2>::points) {
      const std::int64_t j = Square<S, 2>::begin(next, butterflies);
      if (pass.is_from_memory && pencils > lanes && next % points_of_line<S> == 0) {
        for (std::int64_t q = 0; q < static_cast<std::int64_t>(radix); ++q) {
          prefetch_lines(base + lanes * pass.source.pencil_stride, pass.source.offsets[j + q * butterflies],
                         pass.source.pencil_stride, lanes);
        }
      }
      Square<S, 2> squares[radix];
      for (std::size_t q = 0; q < radix; ++q) {
        squares[q].load(base, pass.source.offsets + j + static_cast<std::int64_t>(q) * butterflies,
                        pass.source.pencil_stride, pencils);
      }
      prefetch_square<S>(*pass.ahead);
      for (std::int64_t k = 0; k < Square<S, 2>::points; ++k) {
        Legs<Vector, radix> legs;
        unroll<radix>([&](auto q) __attribute__((always_inline)) {
          const Vector* const pair = squares[q].of_point[k];
          legs[q] = {part_of<S, 0>(pair[0], pair[1]), part_of<S, 1>(pair[0], pair[1])};
        });
        legs = transformed<radix, Vector>(legs);
        twiddle<S, radix>(legs, pass.roots + 2 * (radix - 1) * static_cast<std::size_t>(j + k));
        auto* const to = reinterpret_cast<Vector*>(pass.work) + pass.inner[j + k] * row + pencil / lanes * 2;
        put_legs<S, radix>(to, leg_stride, legs);
      }
    }
  }
}

/// A butterfly of last_pass_apart for one vector of pencils, `from` in the work buffer: `pair_of(q)` gets leg q.
template <class S, std::size_t radix, class PairOf>
[[gnu::always_inline]] inline void last_butterfly_apart(const typename S::Vector* from, std::int64_t leg_stride,
                                                        typename S::Real factor, const PairOf& pair_of) {
  using Vector = typename S::Vector;
  Legs<Vector, radix> legs = transformed<radix, Vector>(legs_at<S, radix>(from, leg_stride));
  scale<S, radix>(legs, factor);
  unroll<radix>([&](auto q) __attribute__((always_inline)) {
    Vector* const pair = pair_of(q());
    pair[0] = put_together<S, 0>(legs[q].re, legs[q].im);
    pair[1] = put_together<S, 1>(legs[q].re, legs[q].im);
  });
}

/// As last_pass, to pencils apart; there are at least half as many butterflies as lanes, and no factors of rows.
template <class S, std::size_t radix>
void last_pass_apart(const PassWork<typename S::Real>& pass) noexcept {
  using Vector = typename S::Vector;
  constexpr std::int64_t points = Square<S, 2>::points;
  const std::int64_t row = work_row<S>(pass.row_bytes);
  const std::int64_t leg_stride = pass.leg_rows * row;
  const std::int64_t butterflies = pass.block_count;
  const std::int64_t stride = pass.destination.pencil_stride;
  const typename S::Real factor = pass.factor;
  constexpr std::int64_t lines_together = bytes_together / (S::lanes * static_cast<std::int64_t>(radix) * line_bytes);
  constexpr std::int64_t max_together = (lines_together > 0 ? lines_together : 1) * points_of_line<S>;
  const bool is_streaming = pass.is_streaming && fills_lines<S, radix>(pass);
  for (std::int64_t pencil = 0; pencil < pass.pencils; pencil += S::lanes) {
    std::byte* const base = pass.destination.base + pencil * stride;
    const std::int64_t pencils = pass.pencils - pencil;
    const auto* const work = reinterpret_cast<const Vector*>(pass.work) + pencil / S::lanes * 2;
    for (std::int64_t o = 0; is_streaming && o < butterflies; o += max_together) {
      const std::int64_t together = butterflies - o < max_together ? butterflies - o : max_together;
      Square<S, 2> squares[radix][max_together / points];
      for (std::int64_t k = 0; k < together; ++k) {
        ask<S>(*pass.ahead);
        last_butterfly_apart<S, radix>(
            work + pass.blocks[o + k] * row, leg_stride, factor, [&](std::size_t q) __attribute__((always_inline)) {
              return squares[q][k / points].of_point[k % points];
            });
      }
      for (std::size_t q = 0; q < radix; ++q) {
        const std::int64_t offset = pass.destination.offsets[o + static_cast<std::int64_t>(q) * butterflies];
        stream_lines<S>(squares[q], together / points_of_line<S>, base + offset, stride, pencils);
      }
    }
    for (std::int64_t next = 0; !is_streaming && next < butterflies; next += points) {
      const std::int64_t o = Square<S, 2>::begin(next, butterflies);
      Square<S, 2> squares[radix];
      prefetch_square<S>(*pass.ahead);
      for (std::int64_t k = 0; k < points; ++k) {
        last_butterfly_apart<S, radix>(
            work + pass.blocks[o + k] * row, leg_stride,
            factor, [&](std::size_t q) __attribute__((always_inline)) { return squares[q].of_point[k]; });
      }
      for (std::size_t q = 0; q < radix; ++q) {
        squares[q].store(base, pass.destination.offsets + o + static_cast<std::int64_t>(q) * butterflies, stride,
                         pencils);
      }
    }
  }
}

/// From pencils apart to adjacent ones, whose rows have whole vectors; fewer points than a square's one by one.
template <class S, int unit>
void gather(const PassWork<typename S::Real>& pass) noexcept {
  constexpr std::int64_t points = Square<S, unit>::points;
  constexpr std::int64_t element_bytes = Square<S, unit>::element_bytes;
  const std::int64_t count = pass.inner_count;
  const auto from = [&](std::int64_t k, std::int64_t pencil) __attribute__((always_inline)) {
    return pass.source.base + pass.source.offsets[k] + pencil * pass.source.pencil_stride;
  };
  const auto to = [&](std::int64_t k, std::int64_t pencil) __attribute__((always_inline)) {
    return pass.destination.base + pass.destination.offsets[k] + pencil * element_bytes;
  };
  for (std::int64_t k = 0; count < points && k < count; ++k) {
    for (std::int64_t pencil = 0; pencil < pass.pencils; ++pencil) {
      std::memcpy(to(k, pencil), from(k, pencil), element_bytes);
    }
  }
  for (std::int64_t next = 0; count >= points && next < count; next += points) {
    const std::int64_t k = Square<S, unit>::begin(next, count);
    if (const std::int64_t ahead = next + lines_ahead * line_bytes / element_bytes;
        pass.is_from_memory && ahead < count && next * element_bytes % line_bytes == 0) {
      prefetch_lines(pass.source.base, pass.source.offsets[ahead], pass.source.pencil_stride, pass.pencils);
    }
    for (std::int64_t pencil = 0; pencil < pass.pencils; pencil += S::lanes) {
      Square<S, unit> square;
      square.load(pass.source.base + pencil * pass.source.pencil_stride, pass.source.offsets + k,
                  pass.source.pencil_stride, pass.pencils - pencil);
      square.store_rows(pass.destination.base, pass.destination.offsets + k, pencil * element_bytes);
    }
  }
}

/// The other way to `pencils` pencils whose points follow one another, of S::lanes at most: the lines that they fill
/// past the cache.
template <class S, int unit>
[[gnu::noinline]] void stream_pencils(const PassWork<typename S::Real>& pass, std::int64_t first_pencil,
                                      std::int64_t pencils) noexcept {
  using Points = Square<S, unit>;
  constexpr std::int64_t element_bytes = Points::element_bytes;
  constexpr std::int64_t max_points = bytes_together / S::lanes / element_bytes;
  alignas(line_bytes) std::byte lines[S::lanes][(max_points + Points::points) * element_bytes + line_bytes];
  const std::int64_t count = pass.inner_count;
  const std::int64_t stride = pass.destination.pencil_stride;
  std::byte* const to = pass.destination.base + pass.destination.offsets[0] + first_pencil * stride;
  for (std::int64_t begin = 0, end = 0; begin < count; begin = end) {
    end = count - begin < max_points + Points::points ? count : begin + max_points;
    for (std::int64_t next = begin; next < end; next += Points::points) {
      const std::int64_t k = Points::begin(next, end);
      Points square;
      square.load_rows(pass.source.base, pass.source.offsets + k, first_pencil * element_bytes);
      unroll<unit>([&](auto part) __attribute__((always_inline)) {
        square.turn_part(part);
        unroll<Points::points>([&](auto i) __attribute__((always_inline)) {
          constexpr std::int64_t pencil = static_cast<std::int64_t>(part()) * Points::points + i();
          std::byte* const at = lines[pencil] + bytes_into_line(to + pencil * stride) + (k - begin) * element_bytes;
          reinterpret_cast<Unaligned<S>*>(at)->vector = square.of_point[i][part];
        });
      });
    }
    for (std::int64_t pencil = 0; pencil < pencils; ++pencil) {
      stream_ragged<S>(to + pencil * stride, lines[pencil], begin * element_bytes, end * element_bytes,
                       count * element_bytes);
    }
  }
}

/// The other way.
template <class S, int unit>
void scatter(const PassWork<typename S::Real>& pass) noexcept {
  constexpr std::int64_t points = Square<S, unit>::points;
  constexpr std::int64_t element_bytes = Square<S, unit>::element_bytes;
  const std::int64_t count = pass.inner_count;
  const auto from = [&](std::int64_t k, std::int64_t pencil) __attribute__((always_inline)) {
    return pass.source.base + pass.source.offsets[k] + pencil * element_bytes;
  };
  const auto to = [&](std::int64_t k, std::int64_t pencil) __attribute__((always_inline)) {
    return pass.destination.base + pass.destination.offsets[k] + pencil * pass.destination.pencil_stride;
  };
  if (pass.is_streaming && count * element_bytes >= min_ragged_bytes &&
      Square<S, unit>::follow_one_another(pass.destination.offsets, count)) {
    for (std::int64_t pencil = 0; pencil < pass.pencils; pencil += S::lanes) {
      const std::int64_t left = pass.pencils - pencil;
      stream_pencils<S, unit>(pass, pencil, left < S::lanes ? left : S::lanes);
    }
    return;
  }
  for (std::int64_t k = 0; count < points && k < count; ++k) {
    for (std::int64_t pencil = 0; pencil < pass.pencils; ++pencil) {
      std::memcpy(to(k, pencil), from(k, pencil), element_bytes);
    }
  }
  for (std::int64_t next = 0; count >= points && next < count; next += points) {
    const std::int64_t k = Square<S, unit>::begin(next, count);
    for (std::int64_t pencil = 0; pencil < pass.pencils; pencil += S::lanes) {
      Square<S, unit> square;
      square.load_rows(pass.source.base, pass.source.offsets + k, pencil * element_bytes);
      square.store(pass.destination.base + pencil * pass.destination.pencil_stride, pass.destination.offsets + k,
                   pass.destination.pencil_stride, pass.pencils - pencil);
    }
  }
}

}  // namespace penstock::transform

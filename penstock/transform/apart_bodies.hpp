// The bodies of the passes from and to pencils that are not adjacent: squares of them are transposed in registers.
#pragma once

#include <cstring>
#include <utility>

#include "penstock/transform/butterflies.hpp"
#include "penstock/transform/passes.hpp"
#include "penstock/transform/vectors.hpp"

namespace penstock::transform {

inline constexpr std::int64_t line_bytes = 64;

[[gnu::always_inline]] inline bool begins_line(const std::byte* at) {
  return reinterpret_cast<std::uintptr_t>(at) % line_bytes == 0;
}

/// One step of a pass. Into the second level: the first has the work.
template <class S>
[[gnu::always_inline]] inline void ask(Ahead& ahead) {
  if (!ahead.is_by_pencil) {
    std::int64_t left = ahead.lines_at_once;
    for (; left > 0 && ahead.point < ahead.points; left -= ahead.lines, ahead.point += ahead.point_step) {
      const std::byte* at = ahead.base + ahead.offsets[ahead.point];
      for (const std::byte* const end = at + ahead.lines * line_bytes; at < end; at += line_bytes) {
        __builtin_prefetch(at, 0, 2);
      }
    }
    return;
  }
  for (std::int64_t left = ahead.lines_at_once; left > 0 && ahead.line < ahead.lines; --left) {
    __builtin_prefetch(ahead.base + ahead.offsets[ahead.point] + ahead.line * ahead.line_stride, 0, 2);
    ahead.point += ahead.point_step;
    if (ahead.point >= ahead.points) {
      ahead.point = 0;
      ++ahead.line;
    }
  }
}

/// A square of pencils and points, of complex numbers (unit 2) or real ones (unit 1): what lies in each pencil one
/// after the other becomes, for each point, what memory would have of S::lanes adjacent pencils: `unit` vectors.
template <class S, int unit>
struct Square {
  using Vector = typename S::Vector;
  static constexpr std::int64_t points = S::lanes / unit;
  static constexpr std::int64_t element_bytes = unit * sizeof(typename S::Real);
  Vector of_point[points][unit];

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
    for (std::int64_t part = 0; part < unit; ++part) {
      Vector rows[points];
      for (std::int64_t i = 0; i < points; ++i) {
        const std::int64_t pencil = part * points + i;
        const std::byte* const from = base + (pencil < pencils ? pencil : pencils - 1) * stride;
        if (is_run) [[likely]] {
          rows[i] = reinterpret_cast<const Unaligned<S>*>(from + offsets[0])->vector;
        } else {
          for (std::int64_t k = 0; k < points; ++k) {
            std::memcpy(reinterpret_cast<std::byte*>(&rows[i]) + k * element_bytes, from + offsets[k], element_bytes);
          }
        }
      }
      turn<S, unit>(rows);
      for (std::int64_t k = 0; k < points; ++k) {
        of_point[k][part] = rows[k];
      }
    }
  }

  [[gnu::always_inline]] void store(std::byte* base, const std::int64_t* offsets, std::int64_t stride,
                                    std::int64_t pencils, bool is_streaming) const {
    const bool is_run = follow_one_another(offsets);
    for (std::int64_t part = 0; part < unit; ++part) {
      Vector rows[points];
      for (std::int64_t k = 0; k < points; ++k) {
        rows[k] = of_point[k][part];
      }
      turn<S, unit>(rows);
      for (std::int64_t i = 0; i < points; ++i) {
        const std::int64_t pencil = part * points + i;
        if (pencil >= pencils) [[unlikely]] {
          return;
        }
        std::byte* const to = base + pencil * stride;
        if (is_run) [[likely]] {
          // A vector shorter than a line would leave the line in two parts, with much between them.
          if (sizeof(Vector) == line_bytes && is_streaming && begins_line(to + offsets[0])) {
            S::stream(to + offsets[0], rows[i]);
          } else {
            reinterpret_cast<Unaligned<S>*>(to + offsets[0])->vector = rows[i];
          }
        } else {
          for (std::int64_t k = 0; k < points; ++k) {
            std::memcpy(to + offsets[k], reinterpret_cast<const std::byte*>(&rows[i]) + k * element_bytes,
                        element_bytes);
          }
        }
      }
    }
  }

  /// Where the square of points that begins at point k begins: the last one reaches back where it would be short, and
  /// does what is done again.
  [[gnu::always_inline]] static std::int64_t begin(std::int64_t k, std::int64_t count) {
    return k + points <= count ? k : count - points;
  }
};

/// Complex points of a line of the cache.
template <class S>
inline constexpr std::int64_t points_of_line = line_bytes / (2 * static_cast<std::int64_t>(sizeof(typename S::Real)));

/// How many lines of a pencil ahead a gather asks.
inline constexpr std::int64_t lines_ahead = 2;

/// Asks for a line of each pencil.
[[gnu::always_inline]] inline void ask_for_lines(const std::byte* base, std::int64_t offset, std::int64_t stride,
                                                 std::int64_t pencils) {
  for (std::int64_t pencil = 0; pencil < pencils; ++pencil) {
    __builtin_prefetch(base + offset + pencil * stride);
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
      ask<S>(*pass.ahead);
      if (pass.is_from_memory && pencils > lanes && next % points_of_line<S> == 0) {
        for (std::int64_t q = 0; q < static_cast<std::int64_t>(radix); ++q) {
          ask_for_lines(base + lanes * pass.source.pencil_stride, pass.source.offsets[j + q * butterflies],
                        pass.source.pencil_stride, lanes);
        }
      }
      Square<S, 2> squares[radix];
      for (std::size_t q = 0; q < radix; ++q) {
        squares[q].load(base, pass.source.offsets + j + static_cast<std::int64_t>(q) * butterflies,
                        pass.source.pencil_stride, pencils);
      }
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

/// As last_pass, to pencils apart; there are at least half as many butterflies as lanes, and no factors of rows.
template <class S, std::size_t radix>
void last_pass_apart(const PassWork<typename S::Real>& pass) noexcept {
  using Vector = typename S::Vector;
  constexpr std::int64_t lanes = S::lanes;
  const std::int64_t row = work_row<S>(pass.row_bytes);
  const std::int64_t leg_stride = pass.leg_rows * row;
  const std::int64_t butterflies = pass.block_count;
  const typename S::Real factor = pass.factor;
  for (std::int64_t pencil = 0; pencil < pass.pencils; pencil += lanes) {
    for (std::int64_t next = 0; next < butterflies; next += Square<S, 2>::points) {
      const std::int64_t o = Square<S, 2>::begin(next, butterflies);
      ask<S>(*pass.ahead);
      Square<S, 2> squares[radix];
      for (std::int64_t k = 0; k < Square<S, 2>::points; ++k) {
        const auto* const from =
            reinterpret_cast<const Vector*>(pass.work) + pass.blocks[o + k] * row + pencil / lanes * 2;
        Legs<Vector, radix> legs = transformed<radix, Vector>(legs_at<S, radix>(from, leg_stride));
        scale<S, radix>(legs, factor);
        unroll<radix>([&](auto q) __attribute__((always_inline)) {
          Vector* const pair = squares[q].of_point[k];
          pair[0] = put_together<S, 0>(legs[q].re, legs[q].im);
          pair[1] = put_together<S, 1>(legs[q].re, legs[q].im);
        });
      }
      for (std::size_t q = 0; q < radix; ++q) {
        squares[q].store(pass.destination.base + pencil * pass.destination.pencil_stride,
                         pass.destination.offsets + o + static_cast<std::int64_t>(q) * butterflies,
                         pass.destination.pencil_stride, pass.pencils - pencil, pass.is_streaming);
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
      ask_for_lines(pass.source.base, pass.source.offsets[ahead], pass.source.pencil_stride, pass.pencils);
    }
    for (std::int64_t pencil = 0; pencil < pass.pencils; pencil += S::lanes) {
      Square<S, unit> square;
      square.load(pass.source.base + pencil * pass.source.pencil_stride, pass.source.offsets + k,
                  pass.source.pencil_stride, pass.pencils - pencil);
      for (std::int64_t i = 0; i < points; ++i) {
        std::memcpy(to(k + i, pencil), square.of_point[i], sizeof(square.of_point[i]));
      }
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
  for (std::int64_t k = 0; count < points && k < count; ++k) {
    for (std::int64_t pencil = 0; pencil < pass.pencils; ++pencil) {
      std::memcpy(to(k, pencil), from(k, pencil), element_bytes);
    }
  }
  for (std::int64_t next = 0; count >= points && next < count; next += points) {
    const std::int64_t k = Square<S, unit>::begin(next, count);
    for (std::int64_t pencil = 0; pencil < pass.pencils; pencil += S::lanes) {
      Square<S, unit> square;
      for (std::int64_t i = 0; i < points; ++i) {
        std::memcpy(square.of_point[i], from(k + i, pencil), sizeof(square.of_point[i]));
      }
      square.store(pass.destination.base + pencil * pass.destination.pencil_stride, pass.destination.offsets + k,
                   pass.destination.pencil_stride, pass.pencils - pencil, pass.is_streaming);
    }
  }
}

}  // namespace penstock::transform

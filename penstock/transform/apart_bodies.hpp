// The bodies of the passes from and to pencils that are not adjacent: squares of them are transposed in registers.
#pragma once

#include <cstring>
#include <utility>

#include "penstock/transform/butterflies.hpp"
#include "penstock/transform/passes.hpp"
#include "penstock/transform/vectors.hpp"

namespace penstock::transform {

/// Points of a tile of pencils that lie one after the other in each pencil: the tile of S::lanes pencils of
/// half as many points becomes, for each point, a pair of vectors as memory would have them had the pencils been
/// adjacent.
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
            std::memcpy(to + offsets[k], reinterpret_cast<const std::byte*>(&rows[i]) + k * element_bytes,
                        element_bytes);
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
  for (std::int64_t next = 0; next < butterflies; next += Square<S>::points) {
    const std::int64_t o = group_begin<S>(next, butterflies);
    for (std::int64_t pencil = 0; pencil < pass.pencils; pencil += lanes) {
      Square<S> squares[radix];
      for (std::int64_t k = 0; k < Square<S>::points; ++k) {
        const auto* const from =
            reinterpret_cast<const Vector*>(pass.work) + pass.blocks[o + k] * row + pencil / lanes * 2;
        Legs<Vector, radix> legs = transformed<radix, Vector>(legs_at<S, radix>(from, leg_stride));
        scale<S, radix>(legs, factor);
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

}  // namespace penstock::transform

// Squares of pencils by points, which are transposed in registers. Written over a vector type, as pass_bodies.hpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include "penstock/transform/butterflies.hpp"
#include "penstock/transform/vectors.hpp"

namespace penstock::transform {

/// A square of pencils and points, of complex numbers (unit 2) or real ones (unit 1): what lies in each pencil one
/// after the other becomes, for each point, what memory would have of S::lanes adjacent pencils: `unit` vectors.
template <class S, int unit>
struct Square {
  using Real = typename S::Real;
  using Vector = typename S::Vector;
  static constexpr std::int64_t points = S::lanes / unit;
  static constexpr std::int64_t element_bytes = unit * sizeof(typename S::Real);
  Vector of_point[points][unit];

  [[gnu::always_inline]] static bool follow_one_another(const std::int64_t* offsets, std::int64_t count = points) {
    bool is_run = true;
    for (std::int64_t k = 1; k < count; ++k) {
      is_run &= offsets[k] - offsets[k - 1] == element_bytes;
    }
    return is_run;
  }

  /// Points of a pencil that do not follow one another. Functions of their own keep the others' code short.
  [[gnu::noinline]] static Vector elements_at(const std::byte* from, const std::int64_t* offsets) noexcept {
    Vector vector{};
    unroll<S::lanes>([&](auto k) __attribute__((always_inline)) {
      vector[k()] = reinterpret_cast<const Real*>(from + offsets[k() / unit])[k() % unit];
    });
    return vector;
  }
  [[gnu::noinline]] static void put_elements(std::byte* to, const std::int64_t* offsets, Vector vector) noexcept {
    unroll<S::lanes>([&](auto k) __attribute__((always_inline)) {
      reinterpret_cast<Real*>(to + offsets[k() / unit])[k() % unit] = vector[k()];
    });
  }

  /// Of a part of the pencils: a vector of each point becomes one of each pencil, or the other way round.
  [[gnu::always_inline]] void turn_part(std::int64_t part) {
    Vector rows[points];
    for (std::int64_t k = 0; k < points; ++k) {
      rows[k] = of_point[k][part];
    }
    turn<S, unit>(rows);
    for (std::int64_t k = 0; k < points; ++k) {
      of_point[k][part] = rows[k];
    }
  }

  /// From `pencils` pencils, 1 or more, of which it may need fewer.
  [[gnu::always_inline]] void load(const std::byte* base, const std::int64_t* offsets, std::int64_t stride,
                                   std::int64_t pencils) {
    const bool is_run = follow_one_another(offsets);
    for (std::int64_t part = 0; part < unit; ++part) {
      for (std::int64_t i = 0; i < points; ++i) {
        const std::int64_t pencil = part * points + i;
        const std::byte* const from = base + (pencil < pencils ? pencil : pencils - 1) * stride;
        of_point[i][part] =
            is_run ? reinterpret_cast<const Unaligned<S>*>(from + offsets[0])->vector : elements_at(from, offsets);
      }
      turn_part(part);
    }
  }

  /// From and to a row of each point, `pencil_offset` bytes behind where the rows begin. By vectors: what is stored in
  /// pieces and loaded at once waits until it has reached the cache.
  [[gnu::always_inline]] void load_rows(const std::byte* base, const std::int64_t* offsets,
                                        std::int64_t pencil_offset) {
    for (std::int64_t i = 0; i < points; ++i) {
      const auto* const row = reinterpret_cast<const Unaligned<S>*>(base + offsets[i] + pencil_offset);
      unroll<unit>([&](auto part) __attribute__((always_inline)) { of_point[i][part] = row[part].vector; });
    }
  }
  [[gnu::always_inline]] void store_rows(std::byte* base, const std::int64_t* offsets,
                                         std::int64_t pencil_offset) const {
    for (std::int64_t i = 0; i < points; ++i) {
      auto* const row = reinterpret_cast<Unaligned<S>*>(base + offsets[i] + pencil_offset);
      unroll<unit>([&](auto part) __attribute__((always_inline)) { row[part].vector = of_point[i][part]; });
    }
  }

  /// Leaves a vector of each pencil in the square.
  [[gnu::always_inline]] void store(std::byte* base, const std::int64_t* offsets, std::int64_t stride,
                                    std::int64_t pencils) {
    const bool is_run = follow_one_another(offsets);
    for (std::int64_t part = 0; part < unit; ++part) {
      turn_part(part);
      for (std::int64_t i = 0; i < points; ++i) {
        const std::int64_t pencil = part * points + i;
        if (pencil >= pencils) [[unlikely]] {
          return;
        }
        std::byte* const to = base + pencil * stride;
        if (is_run) [[likely]] {
          reinterpret_cast<Unaligned<S>*>(to + offsets[0])->vector = of_point[i][part];
        } else {
          put_elements(to, offsets, of_point[i][part]);
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

}  // namespace penstock::transform

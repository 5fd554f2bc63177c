// The loops around in-register transpositions, written once over a vector type as in kernel_bodies.hpp.
#pragma once

#include "penstock/mover/kernel_bodies.hpp"

namespace penstock::mover {

/// A matrix to transpose: element (p, q) lies at from + p * E + q * from_pitch and goes to to + p * to_pitch + q * E.
struct Matrix {
  const std::byte* from;
  std::byte* to;
  std::int64_t from_pitch;
  std::int64_t to_pitch;
  std::int64_t p_extent;
  std::int64_t q_extent;

  template <std::int64_t E>
  [[gnu::always_inline]] Matrix part(std::int64_t p, std::int64_t q, std::int64_t ps, std::int64_t qs) const {
    return {from + p * E + q * from_pitch, to + p * to_pitch + q * E, from_pitch, to_pitch, ps, qs};
  }
};

template <class V, std::int64_t E, bool is_streaming>
[[gnu::always_inline]] inline void transpose_square(const Matrix& m, std::int64_t p, std::int64_t q) {
  constexpr std::int64_t width = V::template width<E>;
  const std::int64_t ps = m.p_extent - p < width ? m.p_extent - p : width;
  const std::int64_t qs = m.q_extent - q < width ? m.q_extent - q : width;
  const std::byte* from = m.from + p * E + q * m.from_pitch;
  std::byte* to = m.to + p * m.to_pitch + q * E;
  if (ps == width && qs == width) [[likely]] {
    V::template transpose<E, is_streaming>(from, m.from_pitch, to, m.to_pitch);
  } else {
    V::template transpose_part<E, is_streaming>(from, m.from_pitch, to, m.to_pitch, ps, qs);
  }
}

/// Along the destination's rows, so that stores fill line after line, and in strips that are narrow: the lines that
/// neighbouring squares share are then at hand when they are met again, even where all rows of the source begin at the
/// same place of a page and so fight for one set of the first cache (rows of 2 to 16 KiB, widths of 128 B to 1 KiB:
/// EPYC 9005, November 2026).
///
/// Where the source comes from memory, each square asks for the lines of the square at its place in a later strip.
template <class V, std::int64_t E, bool is_streaming, bool is_from_memory = false>
inline void transpose_tiled(const Matrix& m) {
  constexpr std::int64_t width = V::template width<E>;
  constexpr std::int64_t tile = (is_streaming ? 1024 : E == 16 ? 256 : 512) / E;
  const std::int64_t strips_ahead = is_from_memory ? 1 + prefetch_bytes / (m.p_extent * tile * E + 1) : 0;
  for (std::int64_t q0 = 0; q0 < m.q_extent; q0 += tile) {
    const Matrix part = m.part<E>(0, q0, m.p_extent, m.q_extent - q0 < tile ? m.q_extent - q0 : tile);
    const bool has_ahead = is_from_memory && q0 + strips_ahead * tile < m.q_extent;
    const Matrix ahead = has_ahead ? m.part<E>(0, q0 + strips_ahead * tile, 0, 0) : m;
    for (std::int64_t p = 0; p < part.p_extent; p += width) {
      for (std::int64_t q = 0; q < part.q_extent; q += width) {
        if (has_ahead) {
          for (std::int64_t i = 0; i < width; ++i) {
            __builtin_prefetch(ahead.from + p * E + (q + i) * m.from_pitch);
          }
        }
        transpose_square<V, E, is_streaming>(part, p, q);
      }
    }
  }
}

/// Transposes by way of a buffer in the first cache, for destination rows that do not all begin at the same place of a
/// line: each is then streamed with its own head and tail.
template <class V, std::int64_t E>
[[gnu::noinline]] void stream_transposed_by_way_of_a_buffer(const Matrix& m) {
  constexpr std::int64_t row_bytes = 1024;
  constexpr std::int64_t rows = 16;
  alignas(64) std::byte buffer[rows * row_bytes];
  for (std::int64_t p = 0; p < m.p_extent; p += rows) {
    for (std::int64_t q = 0; q < m.q_extent; q += row_bytes / E) {
      Matrix part = m.part<E>(p, q, m.p_extent - p < rows ? m.p_extent - p : rows,
                              m.q_extent - q < row_bytes / E ? m.q_extent - q : row_bytes / E);
      std::byte* to = part.to;
      part.to = buffer;
      part.to_pitch = row_bytes;
      transpose_tiled<V, E, false>(part);
      for (std::int64_t i = 0; i < part.p_extent; ++i) {
        stream_block<V>(to + i * m.to_pitch, buffer + i * row_bytes, part.q_extent * E);
      }
    }
  }
}

[[gnu::always_inline]] inline Matrix matrix_of(const std::byte* from, std::byte* to, const Work& work) {
  return {from, to, work.outer.source_stride, work.inner.destination_stride, work.inner.extent, work.outer.extent};
}

template <class V, std::int64_t E>
void transpose(const std::byte* from, std::byte* to, const Work& work) noexcept {
  transpose_tiled<V, E, false>(matrix_of(from, to, work));
}

template <class V, std::int64_t E>
void transpose_from_memory(const std::byte* from, std::byte* to, const Work& work) noexcept {
  transpose_tiled<V, E, false, true>(matrix_of(from, to, work));
}

template <class V, std::int64_t E>
void stream_transposed(const std::byte* from, std::byte* to, const Work& work) noexcept {
  const Matrix m = matrix_of(from, to, work);
  const auto to_line = static_cast<std::int64_t>(-reinterpret_cast<std::uintptr_t>(to) % line_bytes);
  if (m.to_pitch % line_bytes != 0 || to_line % E != 0) {
    stream_transposed_by_way_of_a_buffer<V, E>(m);
    return;
  }
  const std::int64_t head = to_line / E < m.q_extent ? to_line / E : m.q_extent;
  const std::int64_t whole = (m.q_extent - head) / (line_bytes / E) * (line_bytes / E);
  stream_transposed_by_way_of_a_buffer<V, E>(m.part<E>(0, 0, m.p_extent, head));
  transpose_tiled<V, E, true>(m.part<E>(0, head, m.p_extent, whole));
  stream_transposed_by_way_of_a_buffer<V, E>(m.part<E>(0, head + whole, m.p_extent, m.q_extent - head - whole));
}

}  // namespace penstock::mover

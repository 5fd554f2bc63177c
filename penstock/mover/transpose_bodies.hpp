// The loops around in-register transpositions, written once over a vector type as in kernel_bodies.hpp.
#pragma once

#include <type_traits>
#include <utility>

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

/// Vectors of elements of E bytes, as compilers shuffle them.
template <class V, std::int64_t E>
struct Lanes {
  using Lane = std::conditional_t<E == 4, std::uint32_t, std::uint64_t>;
  using Vector [[gnu::vector_size(V::bytes)]] = Lane;
  static constexpr std::int64_t elements = V::bytes / E;
  static constexpr std::int64_t lanes_of_element = E / std::int64_t{sizeof(Lane)};
  static constexpr auto all = std::make_index_sequence<V::bytes / sizeof(Lane)>();

  [[gnu::always_inline]] static Vector load(const std::byte* from) {
    Vector vector;
    __builtin_memcpy(&vector, from, sizeof(vector));
    return vector;
  }
  [[gnu::always_inline]] static void store(std::byte* to, Vector vector) {
    __builtin_memcpy(to, &vector, sizeof(vector));
  }
};

/// Of `count` vectors, read one after the other, element number `Pick::element(i)`, counted through all of them, as
/// element i of the result.
template <class V, std::int64_t E, std::int64_t count, class Pick>
[[gnu::always_inline]] inline typename Lanes<V, E>::Vector pick(const typename Lanes<V, E>::Vector* vectors) {
  using L = Lanes<V, E>;
  constexpr auto lane_of = [](std::int64_t vector, std::size_t lane) {
    const auto i = static_cast<std::int64_t>(lane);
    const std::int64_t element = Pick::element(i / L::lanes_of_element);
    const std::int64_t in_vector = element % L::elements * L::lanes_of_element + i % L::lanes_of_element;
    // Of the two that are shuffled the first has all that the vectors before had.
    const std::int64_t from = element / L::elements;
    constexpr std::int64_t lanes = L::elements * L::lanes_of_element;
    return static_cast<int>(from == vector ? lanes + in_vector : from > vector ? -1 : vector == 1 ? in_vector : i);
  };
  typename L::Vector result = vectors[0];
  const auto add = [&]<std::size_t vector, std::size_t... lanes>(std::integral_constant<std::size_t, vector>,
                                                                 std::index_sequence<lanes...>) {
    constexpr auto number = static_cast<std::int64_t>(vector);
    result = __builtin_shufflevector(result, vectors[vector], lane_of(number, lanes)...);
  };
  [&]<std::size_t... vector>(std::index_sequence<vector...>) {
    (add(std::integral_constant<std::size_t, vector + 1>(), L::all), ...);
  }
  (std::make_index_sequence<count - 1>());
  return result;
}

/// Which elements of N rows, as many of each as a vector has, are those of vector `vector` of the rows interleaved; and
/// which of N vectors of interleaved rows are those of row `row`.
template <class V, std::int64_t E, std::int64_t N, std::int64_t vector>
struct Interleaved {
  static constexpr std::int64_t element(std::int64_t i) {
    const std::int64_t number = vector * Lanes<V, E>::elements + i;
    return number % N * Lanes<V, E>::elements + number / N;
  }
};
template <std::int64_t N, std::int64_t row>
struct OfRow {
  static constexpr std::int64_t element(std::int64_t i) { return i * N + row; }
};

/// Where a transposition reads and writes.
enum class Memory { cached, from_memory, streaming };

/// Transposes a matrix of N columns (or rows) that lies in one piece, as far as whole vectors go: interleaves N rows,
/// or takes them apart. Returns how many elements of each row that are. `to` is aligned to a vector if it is streamed.
template <class V, std::int64_t E, std::int64_t N, bool interleaves, Memory memory>
[[gnu::always_inline]] inline std::int64_t transpose_narrow(const Matrix& m) {
  using L = Lanes<V, E>;
  const std::int64_t whole = (interleaves ? m.p_extent : m.q_extent) / L::elements * L::elements;
  const std::int64_t row_pitch = interleaves ? m.from_pitch : m.to_pitch;
  for (std::int64_t i = 0; i < whole; i += L::elements) {
    const std::byte* const from = m.from + i * (interleaves ? E : N * E);
    std::byte* const to = m.to + i * (interleaves ? N * E : E);
    typename L::Vector vectors[N];
    for (std::int64_t n = 0; n < N; ++n) {
      const std::byte* const part = from + n * (interleaves ? row_pitch : V::bytes);
      if constexpr (memory == Memory::from_memory) {
        __builtin_prefetch(part + prefetch_bytes / (interleaves ? N : 1));
      }
      vectors[n] = L::load(part);
    }
    const auto put = [&]<std::int64_t n>(std::integral_constant<std::int64_t, n>) __attribute__((always_inline)) {
      using Pick = std::conditional_t<interleaves, Interleaved<V, E, N, n>, OfRow<N, n>>;
      const typename L::Vector vector = pick<V, E, N, Pick>(vectors);
      std::byte* const part = to + n * (interleaves ? V::bytes : row_pitch);
      if constexpr (memory == Memory::streaming) {
        V::stream(part, V::load(reinterpret_cast<const std::byte*>(&vector)));
      } else {
        L::store(part, vector);
      }
    };
    [&]<std::int64_t... n>(std::integer_sequence<std::int64_t, n...>) __attribute__((always_inline)) {
      (put(std::integral_constant<std::int64_t, n>()), ...);
    }
    (std::make_integer_sequence<std::int64_t, N>());
  }
  return whole;
}

/// Interleaves two or three rows, as far as whole vectors go, and returns what is left of the matrix; all of it where
/// it is another one. Of squares the most would be empty.
template <class V, std::int64_t E, Memory memory>
[[gnu::always_inline]] inline Matrix after_interleaving(const Matrix& m) {
  const bool is_one_piece = m.to_pitch == m.q_extent * E;
  const std::int64_t done = is_one_piece && m.q_extent == 2   ? transpose_narrow<V, E, 2, true, memory>(m)
                            : is_one_piece && m.q_extent == 3 ? transpose_narrow<V, E, 3, true, memory>(m)
                                                              : 0;
  return m.part<E>(done, 0, m.p_extent - done, m.q_extent);
}

/// Takes two or three rows apart, alike.
template <class V, std::int64_t E, Memory memory>
[[gnu::always_inline]] inline Matrix after_taking_apart(const Matrix& m) {
  const bool is_one_piece = m.from_pitch == m.p_extent * E;
  const std::int64_t done = is_one_piece && m.p_extent == 2   ? transpose_narrow<V, E, 2, false, memory>(m)
                            : is_one_piece && m.p_extent == 3 ? transpose_narrow<V, E, 3, false, memory>(m)
                                                              : 0;
  return m.part<E>(0, done, m.p_extent, m.q_extent - done);
}

/// Along the destination's rows, so that stores fill line after line, and in strips that are narrow: the lines that
/// neighbouring squares share are then at hand when they are met again, even where all rows of the source begin at the
/// same place of a page and so fight for one set of the first cache (rows of 2 to 16 KiB, widths of 128 B to 1 KiB:
/// EPYC 9005, November 2026).
///
/// Where the source comes from memory, each square asks for the lines of the square at its place in a later strip.
template <class V, std::int64_t E, Memory memory>
inline void transpose_tiled(const Matrix& m) {
  constexpr bool is_streaming = memory == Memory::streaming;
  constexpr bool is_from_memory = memory == Memory::from_memory;
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

/// Transposes a matrix whose destination stays in cache.
template <class V, std::int64_t E, Memory memory>
inline void transpose_matrix(const Matrix& m) {
  transpose_tiled<V, E, memory>(after_taking_apart<V, E, memory>(after_interleaving<V, E, memory>(m)));
}

/// Transposes by way of a buffer in the first cache, for destination rows that do not all begin at the same place of a
/// line: each is then streamed with its own head and tail.
template <class V, std::int64_t E>
[[gnu::noinline]] void stream_transposed_by_way_of_a_buffer(const Matrix& m) {
  constexpr std::int64_t row_bytes = 1024;
  constexpr std::int64_t rows = 16;
  alignas(64) std::byte buffer[rows * row_bytes];
  if (m.to_pitch == m.q_extent * E && m.to_pitch <= row_bytes) {  // all rows are one piece
    const std::int64_t piece = rows * row_bytes / m.to_pitch;
    for (std::int64_t p = 0; p < m.p_extent; p += piece) {
      Matrix part = m.part<E>(p, 0, m.p_extent - p < piece ? m.p_extent - p : piece, m.q_extent);
      std::byte* const to = part.to;
      part.to = buffer;
      transpose_matrix<V, E, Memory::cached>(part);
      stream_block<V>(to, buffer, part.p_extent * m.to_pitch);
    }
    return;
  }
  for (std::int64_t p = 0; p < m.p_extent; p += rows) {
    for (std::int64_t q = 0; q < m.q_extent; q += row_bytes / E) {
      Matrix part = m.part<E>(p, q, m.p_extent - p < rows ? m.p_extent - p : rows,
                              m.q_extent - q < row_bytes / E ? m.q_extent - q : row_bytes / E);
      std::byte* to = part.to;
      part.to = buffer;
      part.to_pitch = row_bytes;
      transpose_matrix<V, E, Memory::cached>(part);
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
  transpose_matrix<V, E, Memory::cached>(matrix_of(from, to, work));
}

template <class V, std::int64_t E>
void transpose_from_memory(const std::byte* from, std::byte* to, const Work& work) noexcept {
  transpose_matrix<V, E, Memory::from_memory>(matrix_of(from, to, work));
}

template <class V, std::int64_t E>
void stream_transposed(const std::byte* from, std::byte* to, const Work& work) noexcept {
  Matrix m = matrix_of(from, to, work);
  const auto to_line = static_cast<std::int64_t>(-reinterpret_cast<std::uintptr_t>(to) % line_bytes);
  m = to_line == 0 ? after_interleaving<V, E, Memory::streaming>(m) : m;
  if (m.to_pitch % line_bytes != 0 || to_line % E != 0) {
    stream_transposed_by_way_of_a_buffer<V, E>(m);
    return;
  }
  const std::int64_t head = to_line / E < m.q_extent ? to_line / E : m.q_extent;
  const std::int64_t whole = (m.q_extent - head) / (line_bytes / E) * (line_bytes / E);
  stream_transposed_by_way_of_a_buffer<V, E>(m.part<E>(0, 0, m.p_extent, head));
  transpose_tiled<V, E, Memory::streaming>(m.part<E>(0, head, m.p_extent, whole));
  stream_transposed_by_way_of_a_buffer<V, E>(m.part<E>(0, head + whole, m.p_extent, m.q_extent - head - whole));
}

}  // namespace penstock::mover

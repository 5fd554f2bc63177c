// The kernels for x86-64 with AVX2: squares of 32 bytes a side. Compiled for that set; called only where it is usable.
#include <immintrin.h>

#include "penstock/mover/kernel_table.hpp"
#include "penstock/mover/x86_stores.hpp"

namespace penstock::mover {
namespace {

struct Vector {
  static constexpr std::int64_t bytes = 32;
  using ForEntries = Vector;
  template <std::int64_t E>
  static constexpr std::int64_t width = bytes / E;

  static __m256i load(const std::byte* from) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)); }
  static void store(std::byte* to, __m256i block) { _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), block); }
  static void stream(std::byte* to, __m256i block) { _mm256_stream_si256(reinterpret_cast<__m256i*>(to), block); }

  static void copy_part(std::byte* to, const std::byte* from, std::int64_t count) {
    copy_less_than<Vector, bytes>(to, from, count);
  }

  template <bool is_streaming>
  static void put(std::byte* to, __m256i block) {
    if constexpr (is_streaming) {
      stream(to, block);
    } else {
      store(to, block);
    }
  }
  static void stream_part(std::byte* to, const std::byte* from, std::int64_t count) {
    stream_less_than_a_line<Vector>(to, from, count);
  }
  static void copy_long(std::byte* to, const std::byte* from, std::int64_t count) {
    copy_by_string<Vector>(to, from, count);
  }

  /// Rows q of columns p become rows p of columns q: first pairs within halves of 16 bytes, then the halves.
  template <std::int64_t E, bool is_streaming>
  static void transpose(const std::byte* from, std::int64_t from_pitch, std::byte* to, std::int64_t to_pitch) {
    __m256i row[width<E>];
    for (std::int64_t i = 0; i < width<E>; ++i) {
      row[i] = load(from + i * from_pitch);
    }
    turn<E>(row);
    for (std::int64_t i = 0; i < width<E>; ++i) {
      put<is_streaming>(to + i * to_pitch, row[i]);
    }
  }

  template <std::int64_t E, bool is_streaming>
  static void transpose_part(const std::byte* from, std::int64_t from_pitch, std::byte* to, std::int64_t to_pitch,
                             std::int64_t ps, std::int64_t qs) {
    for (std::int64_t p = 0; p < ps; ++p) {
      for (std::int64_t q = 0; q < qs; ++q) {
        __builtin_memcpy(to + p * to_pitch + q * E, from + p * E + q * from_pitch, E);
      }
    }
  }

 private:
  static void turn_halves(__m256i& a, __m256i& b) {
    const __m256i low = _mm256_permute2x128_si256(a, b, 0x20);
    b = _mm256_permute2x128_si256(a, b, 0x31);
    a = low;
  }

  template <std::int64_t E>
  static void turn(__m256i* row) {
    if constexpr (E == 16) {
      turn_halves(row[0], row[1]);
    } else if constexpr (E == 8) {
      const __m256i a = _mm256_unpacklo_epi64(row[0], row[1]);
      const __m256i b = _mm256_unpackhi_epi64(row[0], row[1]);
      const __m256i c = _mm256_unpacklo_epi64(row[2], row[3]);
      const __m256i d = _mm256_unpackhi_epi64(row[2], row[3]);
      row[0] = a;
      row[1] = b;
      row[2] = c;
      row[3] = d;
      turn_halves(row[0], row[2]);
      turn_halves(row[1], row[3]);
    } else {
      turn_fours(row);
      turn_fours(row + 4);
      for (std::int64_t i = 0; i < 4; ++i) {
        turn_halves(row[i], row[i + 4]);
      }
    }
  }

  /// Transposes 4 x 4 elements of 4 bytes in each half of four vectors.
  static void turn_fours(__m256i* row) {
    const __m256i a = _mm256_unpacklo_epi32(row[0], row[1]);
    const __m256i b = _mm256_unpackhi_epi32(row[0], row[1]);
    const __m256i c = _mm256_unpacklo_epi32(row[2], row[3]);
    const __m256i d = _mm256_unpackhi_epi32(row[2], row[3]);
    row[0] = _mm256_unpacklo_epi64(a, c);
    row[1] = _mm256_unpackhi_epi64(a, c);
    row[2] = _mm256_unpacklo_epi64(b, d);
    row[3] = _mm256_unpackhi_epi64(b, d);
  }
};

}  // namespace

constinit const Kernels avx2_kernels = make_kernels<Vector>("avx2");

}  // namespace penstock::mover

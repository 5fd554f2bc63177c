// The kernels for x86-64 with AVX-512: squares of a cache line a side, edges by masks. Compiled for that set; called
// only where it is usable.
#include <immintrin.h>

#include "penstock/mover/kernel_table.hpp"
#include "penstock/mover/x86_stores.hpp"

namespace penstock::mover {
namespace {

struct HalfVector {
  static constexpr std::int64_t bytes = 32;

  static __m256i load(const std::byte* from) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)); }
  static void store(std::byte* to, __m256i block) { _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), block); }
  static void copy_part(std::byte* to, const std::byte* from, std::int64_t count) {
    copy_less_than<HalfVector, bytes>(to, from, count);
  }
};

struct Vector {
  static constexpr std::int64_t bytes = 64;
  using ForEntries = HalfVector;
  template <std::int64_t E>
  static constexpr std::int64_t width = bytes / E;

  static __m512i load(const std::byte* from) { return _mm512_loadu_si512(from); }
  static void store(std::byte* to, __m512i block) { _mm512_storeu_si512(to, block); }
  static void stream(std::byte* to, __m512i block) {
    _mm512_stream_si512(reinterpret_cast<__m512i*>(static_cast<void*>(to)), block);
  }

  static void copy_part(std::byte* to, const std::byte* from, std::int64_t count) {
    copy_less_than<Vector, bytes>(to, from, count);
  }
  static void stream_part(std::byte* to, const std::byte* from, std::int64_t count) {
    stream_less_than_a_line<Vector>(to, from, count);
  }
  static void copy_long(std::byte* to, const std::byte* from, std::int64_t count) {
    copy_by_string<Vector>(to, from, count);
  }

  template <std::int64_t E, bool is_streaming>
  static void transpose(const std::byte* from, std::int64_t from_pitch, std::byte* to, std::int64_t to_pitch) {
    __m512i row[width<E>];
    for (std::int64_t i = 0; i < width<E>; ++i) {
      row[i] = load(from + i * from_pitch);
    }
    turn<E>(row);
    for (std::int64_t i = 0; i < width<E>; ++i) {
      if constexpr (is_streaming) {
        stream(to + i * to_pitch, row[i]);
      } else {
        store(to + i * to_pitch, row[i]);
      }
    }
  }

  template <std::int64_t E, bool is_streaming>
  static void transpose_part(const std::byte* from, std::int64_t from_pitch, std::byte* to, std::int64_t to_pitch,
                             std::int64_t ps, std::int64_t qs) {
    const __mmask16 load_mask = mask_of<E>(ps);
    const __mmask16 store_mask = mask_of<E>(qs);
    __m512i row[width<E>];
    for (std::int64_t i = 0; i < width<E>; ++i) {
      row[i] = i < qs ? _mm512_maskz_loadu_epi32(load_mask, from + i * from_pitch) : _mm512_setzero_si512();
    }
    turn<E>(row);
    for (std::int64_t i = 0; i < width<E>; ++i) {
      if (i >= ps) {
        break;
      }
      if (is_streaming && qs == width<E>) {
        stream(to + i * to_pitch, row[i]);
      } else {
        _mm512_mask_storeu_epi32(to + i * to_pitch, store_mask, row[i]);
      }
    }
  }

 private:
  template <std::int64_t E>
  static __mmask16 mask_of(std::int64_t elements) {
    return static_cast<__mmask16>((1U << (elements * E / 4)) - 1);
  }

  /// Transposes 4 x 4 quarters of 16 bytes: the elements of 16 bytes, or the last step for smaller ones.
  static void turn_quarters(__m512i& a, __m512i& b, __m512i& c, __m512i& d) {
    const __m512i ab_low = _mm512_shuffle_i64x2(a, b, 0x44);
    const __m512i ab_high = _mm512_shuffle_i64x2(a, b, 0xee);
    const __m512i cd_low = _mm512_shuffle_i64x2(c, d, 0x44);
    const __m512i cd_high = _mm512_shuffle_i64x2(c, d, 0xee);
    a = _mm512_shuffle_i64x2(ab_low, cd_low, 0x88);
    b = _mm512_shuffle_i64x2(ab_low, cd_low, 0xdd);
    c = _mm512_shuffle_i64x2(ab_high, cd_high, 0x88);
    d = _mm512_shuffle_i64x2(ab_high, cd_high, 0xdd);
  }

  template <std::int64_t E>
  static void turn(__m512i* row) {
    if constexpr (E == 16) {
      turn_quarters(row[0], row[1], row[2], row[3]);
    } else if constexpr (E == 8) {
      for (std::int64_t i = 0; i < 8; i += 2) {
        const __m512i low = _mm512_unpacklo_epi64(row[i], row[i + 1]);
        row[i + 1] = _mm512_unpackhi_epi64(row[i], row[i + 1]);
        row[i] = low;
      }
      // Vector 2i + j now holds column 2k + j of rows 2i and 2i + 1 in quarter k.
      turn_quarters(row[0], row[2], row[4], row[6]);
      turn_quarters(row[1], row[3], row[5], row[7]);
    } else {
      for (std::int64_t i = 0; i < 16; i += 4) {
        turn_fours(row + i);
      }
      // Vector 4i + j now holds column 4k + j of rows 4i to 4i + 3 in quarter k.
      for (std::int64_t j = 0; j < 4; ++j) {
        turn_quarters(row[j], row[j + 4], row[j + 8], row[j + 12]);
      }
    }
  }

  /// Transposes 4 x 4 elements of 4 bytes in each quarter of four vectors.
  static void turn_fours(__m512i* row) {
    const __m512i a = _mm512_unpacklo_epi32(row[0], row[1]);
    const __m512i b = _mm512_unpackhi_epi32(row[0], row[1]);
    const __m512i c = _mm512_unpacklo_epi32(row[2], row[3]);
    const __m512i d = _mm512_unpackhi_epi32(row[2], row[3]);
    row[0] = _mm512_unpacklo_epi64(a, c);
    row[1] = _mm512_unpackhi_epi64(a, c);
    row[2] = _mm512_unpacklo_epi64(b, d);
    row[3] = _mm512_unpackhi_epi64(b, d);
  }
};

}  // namespace

constinit const Kernels avx512_kernels = make_kernels<Vector>("avx512");

}  // namespace penstock::mover

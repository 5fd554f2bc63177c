// The passes for x86-64 with AVX-512.
#include <immintrin.h>

#include "penstock/transform/pass_bodies.hpp"
#include "penstock/transform/pass_tables.hpp"

namespace penstock::transform {
namespace {

struct Double {
  using Real = double;
  using Vector = double __attribute__((vector_size(64)));
  using Unaligned = double __attribute__((vector_size(64), aligned(8), may_alias));
  static constexpr int lanes = 8;
  static void stream(std::byte* to, Vector value) {
    _mm512_stream_pd(reinterpret_cast<double*>(to), reinterpret_cast<__m512d>(value));
  }
  static constexpr std::int64_t points = 4;
  [[gnu::always_inline]] static void turn(Vector* rows) {
    Vector steps[4];
    for (int i = 0; i < 4; i += 2) {
      steps[i] = __builtin_shufflevector(rows[i], rows[i + 1], 0, 1, 2, 3, 8, 9, 10, 11);
      steps[i + 1] = __builtin_shufflevector(rows[i], rows[i + 1], 4, 5, 6, 7, 12, 13, 14, 15);
    }
    for (int i = 0; i < 2; ++i) {
      rows[2 * i] = __builtin_shufflevector(steps[i], steps[i + 2], 0, 1, 4, 5, 8, 9, 12, 13);
      rows[2 * i + 1] = __builtin_shufflevector(steps[i], steps[i + 2], 2, 3, 6, 7, 10, 11, 14, 15);
    }
  }
};

struct Single {
  using Real = float;
  using Vector = float __attribute__((vector_size(64)));
  using Unaligned = float __attribute__((vector_size(64), aligned(4), may_alias));
  static constexpr int lanes = 16;
  static void stream(std::byte* to, Vector value) {
    _mm512_stream_ps(reinterpret_cast<float*>(to), reinterpret_cast<__m512>(value));
  }
  static constexpr std::int64_t points = 8;
  [[gnu::always_inline]] static void turn(Vector* rows) {
    Vector pairs[8];
    for (int i = 0; i < 8; i += 2) {
      pairs[i] = __builtin_shufflevector(rows[i], rows[i + 1], 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29);
      pairs[i + 1] =
          __builtin_shufflevector(rows[i], rows[i + 1], 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31);
    }
    // Vector 2 i + j now holds number 2 k + j of rows 2 i and 2 i + 1 in quarter k.
    for (int j = 0; j < 2; ++j) {
      Vector steps[4];
      for (int i = 0; i < 4; i += 2) {
        const Vector& a = pairs[2 * i + j];
        const Vector& b = pairs[2 * i + 2 + j];
        steps[i] = __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23);
        steps[i + 1] = __builtin_shufflevector(a, b, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31);
      }
      for (int i = 0; i < 2; ++i) {
        rows[4 * i + j] =
            __builtin_shufflevector(steps[i], steps[i + 2], 0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27);
        rows[4 * i + 2 + j] =
            __builtin_shufflevector(steps[i], steps[i + 2], 4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29, 30, 31);
      }
    }
  }
};

}  // namespace

constinit const PassTable<double> avx512_double = pass_table<Double>("avx512", 32);
constinit const PassTable<float> avx512_single = pass_table<Single>("avx512", 32);

}  // namespace penstock::transform

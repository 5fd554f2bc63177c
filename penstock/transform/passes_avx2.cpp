// The passes for x86-64 with AVX2 and FMA.
#include <immintrin.h>

#include "penstock/transform/pass_bodies.hpp"
#include "penstock/transform/pass_tables.hpp"

namespace penstock::transform {
namespace {

struct Double {
  using Real = double;
  using Vector = double __attribute__((vector_size(32)));
  using Unaligned = double __attribute__((vector_size(32), aligned(8), may_alias));
  static constexpr int lanes = 4;
  static void stream(std::byte* to, Vector value) {
    _mm256_stream_pd(reinterpret_cast<double*>(to), reinterpret_cast<__m256d>(value));
  }
  static constexpr std::int64_t points = 2;
  [[gnu::always_inline]] static void turn(Vector* rows) {
    const Vector low = __builtin_shufflevector(rows[0], rows[1], 0, 1, 4, 5);
    rows[1] = __builtin_shufflevector(rows[0], rows[1], 2, 3, 6, 7);
    rows[0] = low;
  }
};

struct Single {
  using Real = float;
  using Vector = float __attribute__((vector_size(32)));
  using Unaligned = float __attribute__((vector_size(32), aligned(4), may_alias));
  static constexpr int lanes = 8;
  static void stream(std::byte* to, Vector value) {
    _mm256_stream_ps(reinterpret_cast<float*>(to), reinterpret_cast<__m256>(value));
  }
  static constexpr std::int64_t points = 4;
  [[gnu::always_inline]] static void turn(Vector* rows) {
    Vector steps[4];
    for (int i = 0; i < 4; i += 2) {
      steps[i] = __builtin_shufflevector(rows[i], rows[i + 1], 0, 1, 8, 9, 4, 5, 12, 13);
      steps[i + 1] = __builtin_shufflevector(rows[i], rows[i + 1], 2, 3, 10, 11, 6, 7, 14, 15);
    }
    for (int i = 0; i < 2; ++i) {
      rows[i] = __builtin_shufflevector(steps[i], steps[i + 2], 0, 1, 2, 3, 8, 9, 10, 11);
      rows[i + 2] = __builtin_shufflevector(steps[i], steps[i + 2], 4, 5, 6, 7, 12, 13, 14, 15);
    }
  }
};

}  // namespace

constinit const PassTable<double> avx2_double = pass_table<Double>("avx2", 16);
constinit const PassTable<float> avx2_single = pass_table<Single>("avx2", 16);

}  // namespace penstock::transform

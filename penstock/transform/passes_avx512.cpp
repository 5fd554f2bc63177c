// The passes for x86-64 with AVX-512; rows also by vectors of half the length, which more lengths are multiples of.
#include <immintrin.h>

#include "penstock/transform/pass_bodies.hpp"
#include "penstock/transform/pass_tables.hpp"

namespace penstock::transform {
namespace {

struct Double {
  using Real = double;
  using Vector = double __attribute__((vector_size(64)));
  static constexpr int lanes = 8;
  static void stream(std::byte* to, Vector value) {
    _mm512_stream_pd(reinterpret_cast<double*>(to), reinterpret_cast<__m512d>(value));
  }
};

struct Single {
  using Real = float;
  using Vector = float __attribute__((vector_size(64)));
  static constexpr int lanes = 16;
  static void stream(std::byte* to, Vector value) {
    _mm512_stream_ps(reinterpret_cast<float*>(to), reinterpret_cast<__m512>(value));
  }
};

struct HalfDouble {
  using Real = double;
  using Vector = double __attribute__((vector_size(32)));
  static constexpr int lanes = 4;
  static void stream(std::byte* to, Vector value) {
    _mm256_stream_pd(reinterpret_cast<double*>(to), reinterpret_cast<__m256d>(value));
  }
};

struct HalfSingle {
  using Real = float;
  using Vector = float __attribute__((vector_size(32)));
  static constexpr int lanes = 8;
  static void stream(std::byte* to, Vector value) {
    _mm256_stream_ps(reinterpret_cast<float*>(to), reinterpret_cast<__m256>(value));
  }
};

}  // namespace

constinit const PassTable<double> avx512_double = pass_table<Double, Double, HalfDouble>("avx512", 32);
constinit const PassTable<float> avx512_single = pass_table<Single, Single, HalfSingle>("avx512", 32);

}  // namespace penstock::transform

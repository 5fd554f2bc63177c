// The passes for x86-64 with AVX2 and FMA.
#include <immintrin.h>

#include "penstock/transform/pass_bodies.hpp"
#include "penstock/transform/pass_tables.hpp"

namespace penstock::transform {
namespace {

struct Double {
  using Real = double;
  using Vector = double __attribute__((vector_size(32)));
  static constexpr int lanes = 4;
  static void stream(std::byte* to, Vector value) {
    _mm256_stream_pd(reinterpret_cast<double*>(to), reinterpret_cast<__m256d>(value));
  }
};

struct Single {
  using Real = float;
  using Vector = float __attribute__((vector_size(32)));
  static constexpr int lanes = 8;
  static void stream(std::byte* to, Vector value) {
    _mm256_stream_ps(reinterpret_cast<float*>(to), reinterpret_cast<__m256>(value));
  }
};

}  // namespace

constinit const PassTable<double> avx2_double = pass_table<Double, Double>("avx2", 16);
constinit const PassTable<float> avx2_single = pass_table<Single, Single>("avx2", 16);

}  // namespace penstock::transform

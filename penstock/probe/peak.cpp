// The rate of fused multiply-adds in registers, by the widest vectors that the processor has.
#include "penstock/base/base.hpp"
#include "penstock/probe/calibration.hpp"
#include "penstock/probe/pinned_pool.hpp"

namespace penstock::probe {
namespace {

// So many sums in flight hide the latency of a multiply-add: 4 or 5 cycles, two a cycle.
constexpr int chains = 12;
constexpr int rounds = 1000;

/// Runs `rounds` multiply-adds of each chain; the operations done, and a sum that no compiler can leave out.
struct Work {
  double flops;
  double sum;
};
using PeakLoop = Work (*)();

// The compiler's own vectors: with a target that has multiply-adds it makes them of a * b + c.
template <int lanes>
using Vector __attribute__((vector_size(lanes * sizeof(double)))) = double;

#define PENSTOCK_MULTIPLY_ADDS(NAME, LANES, TARGET)               \
  TARGET Work NAME() {                                            \
    Vector<LANES> sums[chains];                                   \
    const Vector<LANES> factor = Vector<LANES>{} + 0.999999;      \
    for (Vector<LANES> & sum : sums) {                            \
      sum = factor;                                               \
    }                                                             \
    for (int i = 0; i < rounds; ++i) {                            \
      _Pragma("GCC unroll 12") for (Vector<LANES> & sum : sums) { \
        sum = sum * factor + factor;                              \
      }                                                           \
    }                                                             \
    double total = 0;                                             \
    for (const Vector<LANES>& sum : sums) {                       \
      total += sum[0];                                            \
    }                                                             \
    return {2.0 * LANES * chains * rounds, total};                \
  }

#if defined(__x86_64__)
PENSTOCK_MULTIPLY_ADDS(by_avx512, 8, __attribute__((target("avx512f"))))
PENSTOCK_MULTIPLY_ADDS(by_avx2, 4, __attribute__((target("avx2,fma"))))
#endif
PENSTOCK_MULTIPLY_ADDS(by_default, 2, )
#undef PENSTOCK_MULTIPLY_ADDS

PeakLoop choose() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) {
    return by_avx512;
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    return by_avx2;
  }
#endif
  return by_default;
}

}  // namespace

Figure measure_peak(const CalibrationOptions& options) {
  const PeakLoop loop = choose();
  PinnedPool pool(options.threads);
  std::vector<double> sinks(static_cast<std::size_t>(options.threads));
  const double flops = loop().flops * options.threads;
  return rate_of(flops, sample(options, pool, [&](int thread, std::int64_t times) {
                   double sum = 0;
                   for (std::int64_t i = 0; i < times; ++i) {
                     sum += loop().sum;
                   }
                   sinks[static_cast<std::size_t>(thread)] = sum;
                 }));
}

}  // namespace penstock::probe

// The rate of a matrix multiply by OpenBLAS.
#include "penstock/base/base.hpp"
#include "penstock/probe/calibration.hpp"
#include "penstock/probe/sampling.hpp"

#if PENSTOCK_HAS_GEMM
#include <cblas.h>

#include <algorithm>
#endif

namespace penstock::probe {

std::optional<GemmRates> measure_gemm([[maybe_unused]] const CalibrationOptions& options) {
#if PENSTOCK_HAS_GEMM
  constexpr int n = 1024;
  constexpr auto matrix = static_cast<std::size_t>(n) * n;
  // Each thread multiplies matrices of its own, as ours do.
  const int threads_before = openblas_get_num_threads();
  openblas_set_num_threads(1);
  PinnedPool pool(options.threads);
  std::vector<Memory> memory;
  for (int thread = 0; thread < options.threads; ++thread) {
    memory.emplace_back(3 * matrix * sizeof(double));
    std::fill_n(reinterpret_cast<double*>(memory.back().data()), 2 * matrix, 1.5);
  }
  auto times_s = sample(options, pool, [&](int thread, std::int64_t times) {
    auto* const a = reinterpret_cast<double*>(memory[static_cast<std::size_t>(thread)].data());
    for (std::int64_t i = 0; i < times; ++i) {
      cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1, a, n, a + matrix, n, 0, a + 2 * matrix, n);
    }
  });
  openblas_set_num_threads(threads_before);
  const double flops = 2.0 * n * n * n * options.threads;
  return GemmRates{.flops = rate_of(flops, std::move(times_s)), .n = n};
#else
  return std::nullopt;
#endif
}

}  // namespace penstock::probe

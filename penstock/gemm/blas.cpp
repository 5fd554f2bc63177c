// The four types of element and OpenBLAS's four functions.
#include "penstock/gemm/blas.hpp"

#include <cblas.h>

#include <algorithm>
#include <mutex>

#include "penstock/base/base.hpp"

namespace penstock::gemm {
namespace {

/// OpenBLAS has one number of threads for the whole process; so there is one count of those who want it to be 1.
struct BlasThreads {
  std::mutex mutex;
  int multiplying = 0;  // threads of those who want it to be 1
  int mapped = 0;       // pieces of memory that OpenBLAS has, or for which there was room
  int before = 1;       // OpenBLAS's number, where somebody wants it to be 1
};

BlasThreads& blas_threads() {
  static BlasThreads threads;
  return threads;
}

CBLAS_TRANSPOSE transpose_of(const Block& block) {
  return block.is_transposed ? (block.is_conjugated ? CblasConjTrans : CblasTrans)
                             : (block.is_conjugated ? CblasConjNoTrans : CblasNoTrans);
}

template <class T>
void scale_elements(std::int64_t m, std::int64_t n, std::complex<double> beta, std::byte* c, std::int64_t leading_c) {
  T factor{};
  if constexpr (std::is_floating_point_v<T>) {
    factor = static_cast<T>(beta.real());
  } else {
    factor = T(beta);
  }
  for (std::int64_t i = 0; i < m; ++i) {
    T* row = reinterpret_cast<T*>(c) + i * leading_c;
    std::transform(row, row + n, row, [&](T value) { return factor == T{} ? T{} : factor * value; });
  }
}

}  // namespace

SerialBlas::SerialBlas(int threads) : threads_(threads) {
  BlasThreads& of_all = blas_threads();
  const std::lock_guard lock(of_all.mutex);
  // Of OpenBLAS 0.3.21: a piece for each thread that multiplies, and one more.
  if (const int more = of_all.multiplying + threads + 1 - of_all.mapped; more > 0) {
    constexpr std::size_t piece_bytes = std::size_t{128} << 20;
    require_address_space(static_cast<std::size_t>(more) * piece_bytes);
    of_all.mapped += more;
  }
  if (of_all.multiplying == 0) {
    of_all.before = openblas_get_num_threads();
    openblas_set_num_threads(1);
  }
  of_all.multiplying += threads;
}

SerialBlas::~SerialBlas() {
  BlasThreads& of_all = blas_threads();
  const std::lock_guard lock(of_all.mutex);
  of_all.multiplying -= threads_;
  if (of_all.multiplying == 0) {
    openblas_set_num_threads(of_all.before);
  }
}

void multiply(npy::DataType type, std::int64_t m, std::int64_t n, std::int64_t k, const Scalars& scalars,
              const Block& a, const Block& b, std::byte* c, std::int64_t leading_c) {
  if (m == 0 || n == 0) {
    return;
  }
  if (k == 0) {
    scale(type, m, n, scalars.beta, c, leading_c);
    return;
  }
  const auto call = [&](auto function, auto alpha, auto beta, auto element) {
    using Element = decltype(element);
    function(CblasRowMajor, transpose_of(a), transpose_of(b), static_cast<blasint>(m), static_cast<blasint>(n),
             static_cast<blasint>(k), alpha, reinterpret_cast<const Element*>(a.data), static_cast<blasint>(a.leading),
             reinterpret_cast<const Element*>(b.data), static_cast<blasint>(b.leading), beta,
             reinterpret_cast<Element*>(c), static_cast<blasint>(leading_c));
  };
  const std::complex<float> alpha(scalars.alpha);
  const std::complex<float> beta(scalars.beta);
  switch (type) {
    case npy::DataType::float32:
      return call(cblas_sgemm, alpha.real(), beta.real(), float{});
    case npy::DataType::float64:
      return call(cblas_dgemm, scalars.alpha.real(), scalars.beta.real(), double{});
    case npy::DataType::complex64:
      return call(cblas_cgemm, &alpha, &beta, float{});
    case npy::DataType::complex128:
      return call(cblas_zgemm, &scalars.alpha, &scalars.beta, double{});
  }
}

void multiply_on_threads(npy::DataType type, std::int64_t m, std::int64_t n, std::int64_t k, const Scalars& scalars,
                         const Block& a, const Block& b, std::byte* c, std::int64_t leading_c, int threads) {
  const SerialBlas serial(threads);
  ThreadPool pool(threads);
  const std::int64_t bytes = npy::element_bytes(type);
  const auto later = [&](Block block, std::int64_t elements) {
    block.data += elements * bytes;
    return block;
  };
  pool.run([&](int thread) {
    const std::int64_t count = std::max(m, n);
    const std::int64_t first = count * thread / threads;
    const std::int64_t share = count * (thread + 1) / threads - first;
    if (m >= n) {
      multiply(type, share, n, k, scalars, later(a, first * (a.is_transposed ? 1 : a.leading)), b,
               c + first * leading_c * bytes, leading_c);
    } else {
      multiply(type, m, share, k, scalars, a, later(b, first * (b.is_transposed ? b.leading : 1)), c + first * bytes,
               leading_c);
    }
  });
}

void multiply_by_blas_threads(npy::DataType type, std::int64_t m, std::int64_t n, std::int64_t k,
                              const Scalars& scalars, const Block& a, const Block& b, std::byte* c,
                              std::int64_t leading_c, int threads) {
  const int before = openblas_get_num_threads();
  openblas_set_num_threads(threads);
  multiply(type, m, n, k, scalars, a, b, c, leading_c);
  openblas_set_num_threads(before);
}

void scale(npy::DataType type, std::int64_t m, std::int64_t n, std::complex<double> beta, std::byte* c,
           std::int64_t leading_c) {
  switch (type) {
    case npy::DataType::float32:
      return scale_elements<float>(m, n, beta, c, leading_c);
    case npy::DataType::float64:
      return scale_elements<double>(m, n, beta, c, leading_c);
    case npy::DataType::complex64:
      return scale_elements<std::complex<float>>(m, n, beta, c, leading_c);
    case npy::DataType::complex128:
      return scale_elements<std::complex<double>>(m, n, beta, c, leading_c);
  }
}

double flops(npy::DataType type, double m, double n, double k) noexcept {
  return (npy::is_complex(type) ? 8 : 2) * m * n * k;
}

}  // namespace penstock::gemm

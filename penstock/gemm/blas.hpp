// Multiplies of blocks in memory by OpenBLAS, each on the calling thread. Included by gemm.hpp.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>

#include "penstock/npy/npy.hpp"

#pragma GCC visibility push(default)

namespace penstock::gemm {

/// The operation on a factor: none, its transpose, or its transpose with conjugated elements.
enum class Op { none, transpose, conjugate_transpose };

/// A block of op(matrix) as it lies in memory. `leading` is the distance in elements between the beginnings of its
/// rows, or, where it is transposed, of its columns.
struct Block {
  const std::byte* data = nullptr;
  std::int64_t leading = 0;
  bool is_transposed = false;
  bool is_conjugated = false;
};

struct Scalars {
  std::complex<double> alpha = 1;
  std::complex<double> beta = 0;
};

/// While an object lives, each multiply runs on its calling thread alone, and OpenBLAS's own threads, which would
/// compete with the callers, do nothing. This holds for the whole process, since OpenBLAS has one number of threads.
/// The last object to be destroyed restores that number.
class SerialBlas {
 public:
  /// For multiplies on `threads` threads at once. Throws Error where the address space (`ulimit -v`) has no room for
  /// the memory that OpenBLAS maps for each thread: OpenBLAS would try for ever.
  explicit SerialBlas(int threads);
  ~SerialBlas();
  SerialBlas(const SerialBlas&) = delete;
  SerialBlas& operator=(const SerialBlas&) = delete;

 private:
  int threads_;
};

/// C = alpha A B + beta C, of m x k, k x n and m x n elements of `type`; C's rows are `leading_c` elements apart. With
/// beta 0, C is not read. For real types only the real parts of the scalars are used. Thread-safe.
void multiply(npy::DataType type, std::int64_t m, std::int64_t n, std::int64_t k, const Scalars& scalars,
              const Block& a, const Block& b, std::byte* c, std::int64_t leading_c);

/// As `multiply`, on `threads` threads of ours: each makes its share of C's rows, or of its columns where these are
/// more. Throws Error where a thread or the memory for it is refused.
void multiply_on_threads(npy::DataType type, std::int64_t m, std::int64_t n, std::int64_t k, const Scalars& scalars,
                         const Block& a, const Block& b, std::byte* c, std::int64_t leading_c, int threads);

/// As `multiply`, on `threads` threads of OpenBLAS's own, as in programs that do not use Penstock. Not to be called
/// while a SerialBlas lives, nor by two threads at a time.
void multiply_by_blas_threads(npy::DataType type, std::int64_t m, std::int64_t n, std::int64_t k,
                              const Scalars& scalars, const Block& a, const Block& b, std::byte* c,
                              std::int64_t leading_c, int threads);

/// C = beta C, for products with k = 0.
void scale(npy::DataType type, std::int64_t m, std::int64_t n, std::complex<double> beta, std::byte* c,
           std::int64_t leading_c);

/// The operations of a product: 2 m n k, four times as many for complex numbers.
double flops(npy::DataType type, double m, double n, double k) noexcept;

/// The memory that each multiplying thread costs in OpenBLAS, its own and the process's. Measured with 0.3.21: 3.1 MiB.
inline constexpr std::int64_t blas_bytes_per_thread = 13 << 18;

}  // namespace penstock::gemm

#pragma GCC visibility pop

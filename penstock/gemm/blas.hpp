// Multiplies of blocks in memory, each on the thread that asks for it, by OpenBLAS. Included by gemm.hpp.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>

#include "penstock/npy/npy.hpp"

namespace penstock::gemm {

/// What is multiplied of a matrix: itself, its transpose, or its transpose with conjugated elements.
enum class Op { none, transpose, conjugate_transpose };

/// A block of op(matrix) as it lies in memory. `leading` elements apart lie the beginnings of its rows, or, where it is
/// transposed, of its columns.
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

/// As long as one lives, multiplies run on the threads that ask for them, and OpenBLAS's own threads, which would
/// contend with these, do nothing: in the whole process, since OpenBLAS knows no other way. The last one to go restores
/// them.
class SerialBlas {
 public:
  /// For multiplies on `threads` threads at once. Throws Error where the address space (`ulimit -v`) has no room for
  /// what OpenBLAS maps for each: it would try for ever.
  explicit SerialBlas(int threads);
  ~SerialBlas();
  SerialBlas(const SerialBlas&) = delete;
  SerialBlas& operator=(const SerialBlas&) = delete;

 private:
  int threads_;
};

/// C = alpha A B + beta C, of m x k, k x n and m x n elements of `type`; C's rows are `leading_c` elements apart. With
/// a beta of 0 what was in C is not read. For real types only the real parts of the scalars count. Thread-safe.
void multiply(npy::DataType type, std::int64_t m, std::int64_t n, std::int64_t k, const Scalars& scalars,
              const Block& a, const Block& b, std::byte* c, std::int64_t leading_c);

/// The same on `threads` threads of OpenBLAS's own, as programs without us would call it. Not while a SerialBlas lives,
/// nor on two threads at a time.
void multiply_by_blas_threads(npy::DataType type, std::int64_t m, std::int64_t n, std::int64_t k,
                              const Scalars& scalars, const Block& a, const Block& b, std::byte* c,
                              std::int64_t leading_c, int threads);

/// C = beta C, for products without terms.
void scale(npy::DataType type, std::int64_t m, std::int64_t n, std::complex<double> beta, std::byte* c,
           std::int64_t leading_c);

/// 2 m n k operations, four times as many for complex numbers.
double flops(npy::DataType type, double m, double n, double k) noexcept;

/// What a thread that multiplies keeps for itself in OpenBLAS, and OpenBLAS for the process. Measured with 0.3.21: 3.1
/// MiB.
inline constexpr std::int64_t blas_bytes_per_thread = 13 << 18;

}  // namespace penstock::gemm

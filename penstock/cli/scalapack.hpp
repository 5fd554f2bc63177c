// ScaLAPACK's pdgemm, the baseline of `penstock bench gemm`.
#pragma once

#include <cstdint>
#include <memory>

namespace penstock::cli {

/// Square matrices of zeros on all processes of MPI_COMM_WORLD, block-cyclic, multiplied by pdgemm. Movable.
class Scalapack {
 public:
  /// Whether this build has it.
  static bool is_built_in() noexcept;
  /// Collective: matrices of n x n doubles in blocks of `block` x `block`, on a grid as square as can be.
  Scalapack(std::int64_t n, std::int64_t block);
  ~Scalapack();
  Scalapack(const Scalapack&) = delete;
  Scalapack& operator=(const Scalapack&) = delete;

  /// Collective: C = A B.
  void multiply();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace penstock::cli

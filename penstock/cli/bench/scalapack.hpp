// ScaLAPACK's pdgemm, the baseline of `penstock bench gemm`.
#pragma once

#include <cstdint>
#include <memory>

#include "penstock/gas/gas.hpp"

namespace penstock::cli {

/// Square matrices on all processes of MPI_COMM_WORLD, block-cyclic, multiplied by pdgemm. Movable.
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
  /// The same by ours, which takes the same arguments. `team` has all processes, in their order.
  void multiply_by_penstock(const gas::Team& team, int threads);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace penstock::cli

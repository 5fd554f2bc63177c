// C = alpha op(A) op(B) + beta C of matrices that lie on the ranks of a team. Included by gemm.hpp.
#pragma once

#include <complex>
#include <cstdint>

#include "penstock/gas/gas.hpp"
#include "penstock/gemm/blas.hpp"

namespace penstock::gemm {

/// A matrix on the ranks of a team, in any of the distributions of global arrays.
template <class T>
using GlobalMatrix = gas::GlobalArray<T, 2>;

/// What a multiply did on this rank, beyond its result.
struct DistributedTimes {
  double total_s = 0;
  double multiply_s = 0;           ///< in multiplies of blocks
  double wait_s = 0;               ///< for blocks that had not arrived, and for the other ranks
  double redistribute_s = 0;       ///< to and from block distributions
  std::int64_t fetched_bytes = 0;  ///< of A and B, copied here from other ranks; what is multiplied in place is not
};

/// Multiplies on `threads` threads of each rank; the sizes fit each other, the matrices are not the same, and all live
/// on `team`. Collective; throws Error on every rank where the sizes do not fit or one has no memory.
///
/// Each rank makes what it owns of C. Along k it walks the blocks of A and B as they lie, beginning with different ones
/// on different ranks, as Cannon's algorithm does, so that no rank is asked by all at once. Blocks of ranks whose
/// memory it maps it multiplies where they lie; others it gets, in panels, while it multiplies the one before: three
/// buffers each. What is not in one block a rank (block-cyclic matrices) is first brought into such a distribution, and
/// C back.
///
/// T: float, double, or a complex of one.
template <class T>
DistributedTimes multiply(const gas::Team& team, Op op_a, Op op_b, T alpha, GlobalMatrix<T>& a, GlobalMatrix<T>& b,
                          T beta, GlobalMatrix<T>& c, int threads = 1);

}  // namespace penstock::gemm

// C = alpha op(A) op(B) + beta C of matrices that lie on the ranks of a team. Included by gemm.hpp.
#pragma once

#include <array>
#include <complex>
#include <cstdint>
#include <string>
#include <string_view>

#include "penstock/gas/gas.hpp"
#include "penstock/gemm/blas.hpp"
#include "penstock/machine/machine.hpp"

namespace penstock::gemm {

/// A matrix on the ranks of a team, in any of the distributions of global arrays.
template <class T>
using GlobalMatrix = gas::GlobalArray<T, 2>;

/// How the blocks of A and B come to who multiplies them.
enum class Algorithm {
  automatic,   ///< by the model; blocks that all ranks map are read in place
  stationary,  ///< each rank makes its part of C, reads what it maps in place and gets the rest
  cannon,      ///< the same, but owners put panels to who needs them next, who hand them on
  layered,     ///< 2.5-D: copies of C on layers of ranks, each with a part of k, as `cannon`, then summed up
};

/// "automatic", "stationary", "cannon" or "layered".
std::string_view name(Algorithm algorithm) noexcept;

struct MultiplyOptions {
  int threads = 1;  ///< of each rank
  Algorithm algorithm = Algorithm::automatic;
  /// Layers, rows and columns of ranks for `layered`; zeros: chosen by the model.
  std::array<int, 3> layers{};
  /// What a node's ranks may take besides the matrices; 0: half of what the node has left.
  std::uint64_t memory_bytes = 0;
  /// By whose figures the model chooses; nullptr: machine::built_in().
  const machine::Machine* machine = nullptr;
};

/// What was chosen for a multiply, and why.
struct MultiplyPlan {
  Algorithm algorithm = Algorithm::stationary;
  std::array<int, 3> grid{1, 1, 1};  ///< layers, rows and columns of the ranks that multiply
  std::int64_t depth = 512;          ///< of panels that travel, at most
  double predicted_s = 0;            ///< by the model; 0 where it knows no network, and there is one
  double transfer_s = 0;             ///< of it, panels on their way
  double hidden_s = 0;               ///< of these, behind multiplies
  std::string reason = {};           ///< a sentence
};

/// Collective: what `multiply` would do with C = A B, of m x k and k x n elements of `type`, C in one block a rank of a
/// grid of rows and columns; A and B are taken to lie alike. Throws Error on every rank for options that cannot be.
MultiplyPlan plan_multiply(const gas::Team& team, npy::DataType type, std::int64_t m, std::int64_t n, std::int64_t k,
                           const std::array<int, 2>& grid_of_c, const MultiplyOptions& options = {});

/// What a multiply did on this rank, beyond its result.
struct DistributedTimes {
  double total_s = 0;
  double multiply_s = 0;           ///< in multiplies of blocks
  double wait_s = 0;               ///< for blocks that had not arrived, and for the other ranks
  double redistribute_s = 0;       ///< to and from block distributions
  double sum_s = 0;                ///< to sum up layers
  std::int64_t fetched_bytes = 0;  ///< of A and B, copied here from other ranks; what is multiplied in place is not
  MultiplyPlan plan = {};
};

/// Multiplies; the sizes fit each other, the matrices are not the same, and all live on `team`. Collective, with the
/// same options on all ranks; throws Error on every rank where the sizes do not fit, the ranks differ in what they ask
/// for, or one has no memory. Where a rank fails midway the team is revoked (see gas::Team).
///
/// Along k the ranks walk the blocks of A and B, beginning with different ones, as Cannon's algorithm does, so that no
/// rank is asked by all at once. Blocks of ranks whose memory is mapped are multiplied where they lie; others arrive in
/// panels while the one before is multiplied: three buffers each. What is not in one block a rank (block-cyclic
/// matrices) is first brought into such a distribution, and C back.
///
/// T: float, double, or a complex of one.
template <class T>
DistributedTimes multiply(const gas::Team& team, Op op_a, Op op_b, T alpha, GlobalMatrix<T>& a, GlobalMatrix<T>& b,
                          T beta, GlobalMatrix<T>& c, const MultiplyOptions& options = {});

}  // namespace penstock::gemm

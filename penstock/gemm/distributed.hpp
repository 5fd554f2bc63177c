// C = alpha op(A) op(B) + beta C of matrices on the ranks of a team. Included by gemm.hpp.
#pragma once

#include <array>
#include <complex>
#include <cstdint>
#include <string>
#include <string_view>

#include "penstock/gas/gas.hpp"
#include "penstock/gemm/blas.hpp"
#include "penstock/machine/machine.hpp"

#pragma GCC visibility push(default)

namespace penstock::gemm {

/// A matrix on the ranks of a team, in any of the distributions of global arrays.
template <class T>
using GlobalMatrix = gas::GlobalArray<T, 2>;

/// How the ranks that multiply get the blocks of A and B.
enum class Algorithm {
  automatic,   ///< `stationary` where all ranks map one another's memory, else by the model
  stationary,  ///< each rank makes its part of C; it reads in place what it maps, and gets the rest
  cannon,      ///< the same, but owners put panels to the ranks that need them next, which pass them on
  layered,  ///< 2.5-D: layers of ranks, each with a copy of C and a part of k, as `cannon`; then the copies are summed
            ///< up
};

/// "automatic", "stationary", "cannon" or "layered".
std::string_view name(Algorithm algorithm) noexcept;

struct MultiplyOptions {
  int threads = 1;  ///< of each rank
  Algorithm algorithm = Algorithm::automatic;
  /// Layers, rows and columns of ranks, for `layered` only; zeros: chosen by the model.
  std::array<int, 3> layers{};
  /// The memory that a node's ranks may take besides the matrices; 0: half of what the node has left.
  std::uint64_t memory_bytes = 0;
  /// The machine by whose rates the model chooses; nullptr: machine::built_in().
  const machine::Machine* machine = nullptr;
};

/// The algorithm of a multiply, and why it was chosen.
struct MultiplyPlan {
  Algorithm algorithm = Algorithm::stationary;
  std::array<int, 3> grid{1, 1, 1};  ///< layers, rows and columns of the ranks that multiply
  std::int64_t depth = 512;          ///< the largest depth, in k, of panels that travel
  double predicted_s = 0;   ///< by the model; 0 where messages go through a network that the machine does not describe
  double transfer_s = 0;    ///< the part of predicted_s in which panels travel
  double hidden_s = 0;      ///< the part of transfer_s that is hidden behind multiplies
  std::string reason = {};  ///< a sentence
};

/// Collective: the plan of `multiply` for C = A B, of m x k and k x n elements of `type`, with C in one block a rank on
/// a grid of rows and columns. A and B are assumed to be distributed likewise. Throws Error on every rank for options
/// that cannot be used, and where ranks would choose differently.
MultiplyPlan plan_multiply(const gas::Team& team, npy::DataType type, std::int64_t m, std::int64_t n, std::int64_t k,
                           const std::array<int, 2>& grid_of_c, const MultiplyOptions& options = {});

/// The times and the traffic of a multiply on this rank.
struct DistributedTimes {
  double total_s = 0;
  double multiply_s = 0;           ///< multiplying blocks
  double wait_s = 0;               ///< waiting for blocks that had not arrived, and for other ranks
  double redistribute_s = 0;       ///< moving matrices to and from block distributions
  double sum_s = 0;                ///< summing up layers
  std::int64_t fetched_bytes = 0;  ///< of A and B, copied here; blocks that are multiplied in place do not count
  MultiplyPlan plan = {};
};

/// Multiplies. The three matrices are different objects, and all are of `team`. Collective, with the same options on
/// all ranks. Throws Error on every rank where the sizes do not fit, the ranks differ in arguments or options, or one
/// has no memory. Where a rank fails midway the team is revoked (see gas::Team).
///
/// Along k the ranks walk the blocks of A and B, each beginning with a different one, as in Cannon's algorithm, so that
/// no rank serves all others at once. Blocks of ranks whose memory is mapped are multiplied where they lie. Other
/// blocks arrive in panels while the panel before is multiplied; A and B have three buffers each. Matrices that are not
/// in one block a rank (block-cyclic ones) are first moved to such a distribution, and C is moved back.
///
/// T: float, double, or a complex of one.
template <class T>
DistributedTimes multiply(const gas::Team& team, Op op_a, Op op_b, T alpha, GlobalMatrix<T>& a, GlobalMatrix<T>& b,
                          T beta, GlobalMatrix<T>& c, const MultiplyOptions& options = {});

}  // namespace penstock::gemm

#pragma GCC visibility pop

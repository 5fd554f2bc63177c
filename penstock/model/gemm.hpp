// How long a matrix multiply C = A B of n x n words takes: Cannon's over the nodes of a machine, and out of core, with
// the matrices in an outer level of memory.
#pragma once

#include <cstdint>
#include <string>

#include "penstock/machine/machine.hpp"

namespace penstock::model {

/// 2 n^3.
double gemm_flops(double n) noexcept;

/// Cannon's algorithm on a square grid of nodes, all cores of which multiply together.
struct CannonRun {
  double n = 0;
  std::int64_t nodes = 1;  ///< a square number
  std::int64_t word_bytes = 8;
  std::string transport = {};  ///< the machine's first where empty
  bool overlaps = true;  ///< whether blocks travel while others are multiplied, as far as the transport progresses
};

struct CannonTime {
  double steps = 0;  ///< multiplies of blocks, as many as a side of the grid
  double block_bytes = 0;
  double multiply_s = 0;  ///< all steps
  double shift_s = 0;     ///< all shifts, the first alignment among them
  double hidden_s = 0;    ///< of the shifts, behind multiplies
  double total_s = 0;
};

/// Throws Error where the nodes are no square number, the machine's rate or network is not known, or the transport not
/// its own.
CannonTime cannon_time(const machine::Machine& machine, const CannonRun& run);

/// A multiply of m x k by k x n words over ranks in `layers` layers of `rows` x `columns`, to which panels of A and B
/// are put while the ones before are multiplied: gemm's algorithms "cannon" (one layer) and "layered" (2.5-D).
struct ShiftedRun {
  double m = 0;
  double n = 0;
  double k = 0;
  std::int64_t word_bytes = 8;
  double flops = 0;       ///< of it all
  double rate_flops = 0;  ///< of one rank; 0: the machine's node, shared by its ranks
  std::int64_t layers = 1;
  std::int64_t rows = 1;
  std::int64_t columns = 1;
  std::int64_t ranks_per_node = 1;  ///< they share the node's link, and what they have of A and B travels no further
  double depth = 512;               ///< of a panel, at most
  std::string transport = {};       ///< the machine's first where empty
};

struct ShiftedTime {
  double steps = 0;
  double received_bytes = 0;  ///< of A and B, by each rank
  double multiply_s = 0;
  double shift_s = 0;   ///< all panels
  double hidden_s = 0;  ///< of these, behind multiplies: all but the first, as far as the multiplies last
  double sum_s = 0;     ///< layers summed up
  double total_s = 0;
  double memory_bytes = 0;  ///< besides the matrices, of each rank
};

/// Throws Error where the machine's rate is needed and not known, its network is and it has none, or the transport is
/// not its own.
ShiftedTime shifted_time(const machine::Machine& machine, const ShiftedRun& run);

/// A multiply on one node, matrices streaming from the memory level `outer` through blocks that fit into `inner`.
struct OutOfCoreRun {
  double n = 0;
  std::int64_t word_bytes = 8;
  std::string outer = "storage";
  std::string inner = "memory";
  double budget_bytes = 0;  ///< of the inner level; 0: all of it
  bool overlaps = true;     ///< whether blocks percolate while others are multiplied
};

struct OutOfCoreTime {
  double block = 0;        ///< words in a row of a block: five fit, C's and two each of A and B in turn
  double moved_bytes = 0;  ///< between the levels: A and B for each block of C, and C once
  double least_bytes = 0;  ///< that any order could do with: 2 n^3 / sqrt(words of the inner level) and the matrices
  double multiply_s = 0;
  double move_s = 0;
  double total_s = 0;
};

/// Throws Error where the machine lacks a level or its GEMM rate, or not one word of five blocks fits.
OutOfCoreTime out_of_core_time(const machine::Machine& machine, const OutOfCoreRun& run);

/// A multiply of m x k by k x n words on one node by tiles of C that stay in memory while panels of A and B, `depth`
/// words deep, pass from the memory level `outer`.
struct TiledRun {
  double m = 0;
  double n = 0;
  double k = 0;
  std::int64_t word_bytes = 8;
  double flops = 0;       ///< of it all
  double rate_flops = 0;  ///< of all cores that multiply; 0: the machine's
  double tile_m = 0;
  double tile_n = 0;
  double depth = 0;
  std::string outer = "storage";
};

/// Throws Error where the machine lacks the level or its GEMM rate.
OutOfCoreTime tiled_time(const machine::Machine& machine, const TiledRun& run);

}  // namespace penstock::model

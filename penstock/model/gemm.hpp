// The time of a matrix multiply C = A B: over the nodes of a machine, by the algorithms of module gemm, and out of
// core, with the matrices in an outer level of memory. Module gemm chooses and predicts by these functions; `penstock
// model gemm` prints them.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "penstock/machine/machine.hpp"
#include "penstock/model/gemm_tiling.hpp"

#pragma GCC visibility push(default)

namespace penstock::model {

/// The operations of a multiply of n x n matrices: 2 n^3.
double gemm_flops(double n) noexcept;

/// A multiply of m x k by k x n words over ranks in `layers` layers of `rows` x `columns`. Panels of A and B are put to
/// a rank while it multiplies the panels before: gemm's algorithms "cannon" (one layer) and "layered" (2.5-D).
struct ShiftedRun {
  double m = 0;
  double n = 0;
  double k = 0;
  std::int64_t word_bytes = 8;
  double flops = 0;       ///< of the whole multiply
  double rate_flops = 0;  ///< of one rank; 0: the rate of the machine's node, divided by its ranks
  std::int64_t layers = 1;
  std::int64_t rows = 1;
  std::int64_t columns = 1;
  std::int64_t ranks_per_node = 1;  ///< they share the node's links; what they have of A and B crosses no link
  double depth = 512;               ///< the maximum depth of a panel
  std::string transport = {};       ///< empty: as `find_transport` says
  bool overlaps = true;             ///< whether panels travel while others are multiplied
};

struct ShiftedTime {
  double steps = 0;
  double received_bytes = 0;  ///< of A and B, by each rank
  double multiply_s = 0;
  double shift_s = 0;   ///< of the transfer of all panels
  double hidden_s = 0;  ///< the part of shift_s hidden behind multiplies: all panels but the first, up to multiply_s
  double sum_s = 0;     ///< of the sum over the layers
  double total_s = 0;
  double memory_bytes = 0;  ///< of each rank, besides the matrices
};

/// Throws Error where `rate_flops` is 0 and the machine's rate is not known. Throws Error for several nodes where the
/// machine has no such transport or no network of so many nodes.
ShiftedTime shifted_time(const machine::Machine& machine, const ShiftedRun& run);

/// All grids of `ranks` ranks in 2 or more layers: layers, rows, columns.
std::vector<std::array<int, 3>> layered_grids(int ranks);

/// The depths of panels to choose from. Thin panels arrive earlier; deep ones are multiplied faster, hardly so beyond
/// 512.
inline constexpr std::array<std::int64_t, 4> panel_depths{512, 256, 128, 64};

/// The index of the shortest of those times that need no more than `memory_bytes`. The first time is taken to fit: the
/// caller puts the one that needs the minimum of memory there.
std::size_t shortest(std::span<const ShiftedTime> times, double memory_bytes) noexcept;

/// A multiply on one node, tile by tile of C, row by row of tiles. A tile stays in memory while panels of A and B pass
/// from the memory level `outer`.
struct TiledRun {
  Product product = {};
  Tiling tiling = {};
  double flops = 0;       ///< of the whole multiply
  double rate_flops = 0;  ///< of all cores that multiply, in blocks of A of 512 x 512; 0: the machine's rate
  std::string outer = "storage";
  double budget_bytes = 0;  ///< of memory; 0: what the tiling takes, but for the blocks of A
  bool overlaps = true;     ///< whether panels arrive while others are multiplied
  /// Whether A, as the first column of tiles reads it, is written to a scratch file in the order of its use, from which
  /// the other columns read it; and B likewise by the first row of tiles, for the other rows.
  bool keeps_a = false;
  bool keeps_b = false;
  /// The rates at which A and B are read from their own files; 0: the level's bandwidth.
  double first_a_bytes_per_s = 0;
  double first_b_bytes_per_s = 0;
};

struct TiledTime {
  double moved_bytes = 0;  ///< between the levels
  double min_bytes = 0;    ///< of any order: the larger of 2 m n k / sqrt(words of the budget) words and the matrices
  double multiply_s = 0;
  double move_s = 0;
  double total_s = 0;
};

/// Each tile takes the longer of the time of its multiplies and that of its transfers; without overlap, their sum.
/// Throws Error where the machine lacks the level, and where its GEMM rate is needed and not known.
TiledTime tiled_time(const machine::Machine& machine, const TiledRun& run);

/// The time in seconds of the same product by eq. 5 of Amaral et al., with the level `outer` for its DRAM, memory for
/// its SRAM, and `threads` cores with their second-level caches for its SPELLs. Three of a core's blocks fill its share
/// of `memory_bytes`, seven sub-blocks its cache. Throws Error as `tiled_time` does.
double percolation_time(const machine::Machine& machine, const TiledRun& run, int threads, double memory_bytes);

}  // namespace penstock::model

#pragma GCC visibility pop

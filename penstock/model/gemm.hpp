// How long a matrix multiply C = A B takes: over the nodes of a machine, as gemm's algorithms do it, and out of core,
// with the matrices in an outer level of memory. gemm chooses and predicts by these, and `penstock model gemm` tells
// them.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "penstock/machine/machine.hpp"
#include "penstock/model/gemm_tiling.hpp"

namespace penstock::model {

/// 2 n^3.
double gemm_flops(double n) noexcept;

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
  bool overlaps = true;             ///< whether panels travel while others are multiplied
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

/// The grids in layers, 2 and more of them, on which all of so many ranks work: layers, rows, columns.
std::vector<std::array<int, 3>> layered_grids(int ranks);

/// Of panels: thin ones arrive earlier, deep ones are multiplied faster, though hardly more so beyond the first.
inline constexpr std::array<std::int64_t, 4> panel_depths{512, 256, 128, 64};

/// Which of the times is the shortest of those that want no more memory; the first one where none does: it is to be the
/// one that needs the least.
std::size_t shortest(std::span<const ShiftedTime> times, double memory_bytes) noexcept;

/// A multiply on one node by tiles of C that stay in memory while panels of A and B pass from the memory level `outer`,
/// the tiles of a row after one another.
struct TiledRun {
  Product product = {};
  Tiling tiling = {};
  double flops = 0;       ///< of it all
  double rate_flops = 0;  ///< of all cores that multiply, of blocks of 512 x 512; 0: the machine's
  std::string outer = "storage";
  double budget_bytes = 0;  ///< of memory; 0: what the tiling takes, but for the blocks of A
  bool overlaps = true;     ///< whether panels arrive while others are multiplied
  /// Whether what the first row of tiles has read of B, and the first column of A, is written down in the order of its
  /// use, and read from there by the others.
  bool keeps_a = false;
  bool keeps_b = false;
  /// At which A and B come where they lie; 0: the level's bandwidth.
  double first_a_bytes_per_s = 0;
  double first_b_bytes_per_s = 0;
};

struct TiledTime {
  double moved_bytes = 0;  ///< between the levels
  double min_bytes = 0;    ///< that any order could do with: 2 m n k / sqrt(words of the budget) and the matrices
  double multiply_s = 0;
  double move_s = 0;
  double total_s = 0;
};

/// Each tile takes the longer of its multiplies and of what moves for it. Throws Error where the machine lacks the
/// level or its GEMM rate.
TiledTime tiled_time(const machine::Machine& machine, const TiledRun& run);

/// The same product by eq. 5 of Amaral et al., the level `outer` for its DRAM, memory for its SRAM, `threads` cores and
/// their second-level caches for its SPELLs: blocks as large as `memory_bytes` hold three of and the cache seven.
/// Seconds.
double percolation_time(const machine::Machine& machine, const TiledRun& run, int threads, double memory_bytes);

}  // namespace penstock::model

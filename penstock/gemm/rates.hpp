// What this machine multiplies and moves, measured in a moment, for predictions and for the choice of tilings.
// Included by gemm.hpp.
#pragma once

#include <string>

#include "penstock/gas/gas.hpp"
#include "penstock/machine/machine.hpp"
#include "penstock/npy/npy.hpp"
#include "penstock/percolate/percolate.hpp"

#pragma GCC visibility push(default)

namespace penstock::gemm {

/// The machine that this process runs on, its GEMM rate measured in double precision on `threads` threads at once and
/// its memory level "storage" in the folder `folder`, past the page cache where the file system lets it: in all about
/// 0.6 s, a second at most, for which it takes 8 MiB and 6 for each thread, or by turns about `max_bytes` if those are
/// less. Throws Error where the folder cannot be written.
machine::Machine measure_machine(int threads, const std::string& folder, percolate::Engine& engine,
                                 std::int64_t max_bytes);

/// Flops a second, of rounds in which all threads multiply.
struct Rate {
  double best_flops = 0;
  double median_flops = 0;
  int rounds = 0;
};

/// Collective: the rate of blocks of `type` in memory, `threads` threads of each rank and all ranks together, the same
/// on each: in 0.5 s, 0.9 at most.
Rate measure_rate(const gas::Team& team, int threads, npy::DataType type);

/// What a machine's GEMM rate, which is of double precision, is for another type: a register holds twice as many
/// floats.
double rate_flops(const machine::Machine& machine, int threads, npy::DataType type);

}  // namespace penstock::gemm

#pragma GCC visibility pop

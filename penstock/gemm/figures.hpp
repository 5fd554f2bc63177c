// What this machine multiplies and moves, measured in a moment, for predictions and for the choice of tilings.
// Included by gemm.hpp.
#pragma once

#include <string>

#include "penstock/gas/gas.hpp"
#include "penstock/machine/machine.hpp"
#include "penstock/npy/npy.hpp"
#include "penstock/percolate/percolate.hpp"

namespace penstock::gemm {

/// The machine that this process runs on, its GEMM rate measured in double precision on `threads` threads at once and
/// its memory level "storage" in the folder `folder`, past the page cache where the file system lets it: in all about
/// 0.2 s, for which it takes 8 MiB and 6 for each thread. Throws Error where the folder cannot be written.
machine::Machine measure_machine(int threads, const std::string& folder, percolate::Engine& engine);

/// Flops a second of blocks of `type` in memory, `threads` threads of this process together: in 0.1 s.
double measure_rate(int threads, npy::DataType type);

/// What a machine's GEMM rate, which is of double precision, is for another type: a register holds twice as many
/// floats.
double rate_flops(const machine::Machine& machine, int threads, npy::DataType type);

}  // namespace penstock::gemm

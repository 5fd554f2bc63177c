// `penstock bench`: the microbenchmarks, each a subcommand.
#include "penstock/cli/bench/bench.hpp"

#include <array>

#include "penstock/base/config.hpp"

namespace penstock::cli {

Body declare_bench(CLI::App& app) {
  static constexpr std::array all {
    Subcommand{"bandwidth", "Floods of puts from one rank to others, MPI's sends, and plain copies",
               declare_bench_bandwidth},
        Subcommand{"exchange",
                   "All ranks give blocks to all: the team's exchange beside MPI's, and what a computation hides",
                   declare_bench_exchange},
#if PENSTOCK_HAS_GEMM
        Subcommand{"gemm", "Matrix multiplies across ranks or of files: Penstock, OpenBLAS, ScaLAPACK's pdgemm",
                   declare_bench_gemm},
#endif
        Subcommand{"latency", "Messages between two ranks: puts, gets, atomics, active messages, MPI's ways, the floor",
                   declare_bench_latency},
        Subcommand{"pack", "Pack and unpack MPI datatypes: Penstock, the MPI library, hand-written loops, memcpy",
                   declare_bench_pack},
  };
  return declare_group(app, all);
}

}  // namespace penstock::cli

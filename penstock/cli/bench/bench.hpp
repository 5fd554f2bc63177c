// The subcommands of `penstock bench`: a new one adds its file and its line in bench.cpp.
#pragma once

#include "penstock/cli/core/subcommand.hpp"

namespace penstock::cli {

Body declare_bench_bandwidth(CLI::App& app);
Body declare_bench_exchange(CLI::App& app);
Body declare_bench_gemm(CLI::App& app);
Body declare_bench_latency(CLI::App& app);
Body declare_bench_pack(CLI::App& app);

}  // namespace penstock::cli

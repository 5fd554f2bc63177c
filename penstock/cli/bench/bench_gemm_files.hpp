// `penstock bench gemm --memory`: a product of matrices in files, beside OpenBLAS over the same files mapped.
#pragma once

#include <cstdint>
#include <string>

#include "penstock/cli/core/session.hpp"

namespace penstock::cli {

struct BenchFiles {
  std::int64_t n = 0;
  int rounds = 0;
  std::uint64_t memory_bytes = 0;
  std::string folder = ".";  ///< of a folder for the matrices, which is removed at the end
};

/// On one rank.
void run_bench_gemm_files(Session& session, const BenchFiles& options);

}  // namespace penstock::cli

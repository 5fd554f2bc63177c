// The kinds of run of `penstock gemm`.
#pragma once

#include "penstock/cli/core/session.hpp"
#include "penstock/cli/gemm/gemm_options.hpp"

namespace penstock::cli {

/// Matrices in files; one process.
void run_gemm_files(Session& session, const GemmOptions& options);

/// Matrices that the ranks make up. Collective.
void run_gemm_ranks(Session& session, const GemmOptions& options);

}  // namespace penstock::cli

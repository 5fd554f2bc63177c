// The kinds of run of `penstock gemm`.
#pragma once

#include <span>
#include <string>

#include "penstock/cli/core/session.hpp"
#include "penstock/cli/gemm/gemm_options.hpp"

namespace penstock::cli {

/// Matrices in files; one process.
void run_gemm_files(Session& session, const GemmOptions& options);

/// Matrices that the ranks make up. Collective.
void run_gemm_ranks(Session& session, const GemmOptions& options);

/// Made-up matrices on a device; one rank. `given` are the options that were, as "--reps". Throws Error for options
/// that only processors have.
void run_gemm_device(Session& session, const GemmOptions& options, std::span<const std::string> given);

}  // namespace penstock::cli

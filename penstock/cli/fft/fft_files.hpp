// `penstock fft` of complex fields in files, in passes over them instead of in memory.
#pragma once

#include <span>
#include <string>

#include "penstock/cli/core/session.hpp"
#include "penstock/cli/fft/fft_options.hpp"

namespace penstock::cli {

/// Collective: whether a transform goes in passes over its files: the way back always does, and the way there where
/// the field does not fit the memory that --memory gives. `given` are the options that were, as "--reps". Throws Error
/// on every rank where what was given does not go with that, or goes with nothing else.
bool goes_by_files(const Session& session, const FftOptions& options, std::span<const std::string> given);

/// Transforms, and reports.
void run_fft_files(Session& session, const FftOptions& options);

}  // namespace penstock::cli

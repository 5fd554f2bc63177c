// The command as it was given, for messages and reports.
#pragma once

#include <string>

#include "penstock/cli/core/session.hpp"

namespace penstock::cli {

/// A line for a shell that repeats this run: "mpiexec -n 2 penstock fft --size 64x64x64".
std::string command_line(const Session& session);

}  // namespace penstock::cli

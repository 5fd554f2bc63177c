// From options to ranks: which transport, how many ranks and threads, and a body run on each of them.
#pragma once

#include <functional>

#include "penstock/cli/core/processes.hpp"
#include "penstock/cli/core/session.hpp"

namespace penstock::cli {

/// Runs `body` on every rank and returns how that ended; collective over the processes. An Error thrown by the body is
/// this rank's outcome, and Processes::conclude makes it everyone's.
Outcome launch(Processes& processes, Interruption& interruption, const CommonOptions& options,
               const std::function<void(Session&)>& body);

}  // namespace penstock::cli

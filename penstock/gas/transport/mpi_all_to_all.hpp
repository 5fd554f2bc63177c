// MPI's own all-to-all calls as channels: what the exchanges of this library are measured against.
#pragma once

#include <mpi.h>

#include <memory>
#include <mutex>
#include <vector>

#include "penstock/gas/transport/transport.hpp"

namespace penstock::gas {

/// The channels of Transport::all_to_all_channels, over `comm`, which they take over. `mutex` serialises the rank's MPI
/// calls. Not collective: throws Error where MPI cannot count this rank's bytes.
std::vector<std::unique_ptr<Channel>> make_all_to_all_channels(MPI_Comm comm, std::shared_ptr<std::mutex> mutex,
                                                               std::vector<AllToAllCall> calls, bool is_blocking);

}  // namespace penstock::gas

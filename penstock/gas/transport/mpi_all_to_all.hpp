// MPI's own all-to-all calls as channels: what the exchanges of this library are measured against.
#pragma once

#include <mpi.h>

#include <memory>
#include <mutex>
#include <vector>

#include "penstock/gas/transport/transport.hpp"

namespace penstock::gas {

/// Collective over `comm`, of which they use a copy of their own; see Transport::all_to_all_channels. `mutex`
/// serialises the rank's MPI calls.
std::vector<std::unique_ptr<Channel>> make_all_to_all_channels(MPI_Comm comm, std::shared_ptr<std::mutex> mutex,
                                                               std::vector<AllToAllCall> calls, bool is_blocking);

}  // namespace penstock::gas

// The networks between ranks of a communicator, made by their kind.
#pragma once

#include <mpi.h>

#include <memory>
#include <mutex>

#include "penstock/gas/core/reach.hpp"
#include "penstock/gas/transport/network.hpp"
#include "penstock/gas/transport/peer_watch.hpp"
#include "penstock/gas/transport/transport.hpp"

namespace penstock::gas {

struct MadeNetwork {
  std::unique_ptr<Network> network;
  NetworkKind kind;  ///< where it was automatic, which it is
};

/// Collective over `transport`, whose communicator is `comm` and whose MPI calls `mutex` serialises; `watch` knows
/// of dead peers. Throws Error on every rank where one cannot have the network.
MadeNetwork make_network_of(NetworkKind kind, MPI_Comm comm, std::mutex& mutex, Transport& transport,
                            const std::shared_ptr<PeerWatch>& watch);

}  // namespace penstock::gas

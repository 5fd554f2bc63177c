// Makes the network of a given kind between the ranks of a communicator.
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
  NetworkKind kind;  ///< the kind that was made; never automatic
};

/// Collective over `transport`, whose communicator is `comm`. `mutex` serialises the rank's MPI calls; `watch` notices
/// dead peers. Throws Error on every rank where one rank cannot have the network.
MadeNetwork make_network_of(NetworkKind kind, MPI_Comm comm, std::mutex& mutex, Transport& transport,
                            const std::shared_ptr<PeerWatch>& watch);

}  // namespace penstock::gas

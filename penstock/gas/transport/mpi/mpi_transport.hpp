// One rank's transport over an MPI communicator: it maps memory within a node, and has a network to other nodes.
#pragma once

#include <mpi.h>

#include <memory>
#include <vector>

#include "penstock/gas/core/reach.hpp"
#include "penstock/gas/transport/peer_watch.hpp"
#include "penstock/gas/transport/transport.hpp"

namespace penstock::gas {

/// Collective over `comm`, which is duplicated. `nodes` gives each rank's node as far as memory may be shared: ranks
/// with equal numbers map one another's. `watch` knows of dead peers, once it has begun.
std::unique_ptr<Transport> make_transport_over(MPI_Comm comm, std::vector<int> nodes, NetworkKind network,
                                               std::shared_ptr<PeerWatch> watch);

}  // namespace penstock::gas

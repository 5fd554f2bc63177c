// The transport of an MPI communicator: shared memory where ranks share a node, a network elsewhere.
#pragma once

#include <mpi.h>

#include <memory>

#include "penstock/gas/gas.hpp"
#include "penstock/gas/transport/transport.hpp"

namespace penstock::gas {

/// Collective over `comm`; see gas::world_of.
std::unique_ptr<Transport> make_mpi_transport(MPI_Comm comm, const Reach& reach);

}  // namespace penstock::gas

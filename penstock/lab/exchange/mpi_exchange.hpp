// MPI's own ways to carry an exchange, as programs have them without this library: what ours is compared with. Included
// by exchange.hpp.
#pragma once

#include <memory>

#include "penstock/base/config.hpp"
#include "penstock/gas/gas.hpp"

#if PENSTOCK_HAS_MPI
#include <mpi.h>

namespace penstock::lab {

enum class MpiExchange {
  messages,   ///< a persistent message of MPI each, to every peer but the rank itself
  alltoall,   ///< MPI_Alltoallv, blocking; call k carries the k-th message of each pair of ranks
  ialltoall,  ///< MPI_Ialltoallv, each call as soon as its messages are complete
};

/// For teams of the world that gas::world_of has made of `world`, which must stay. An exchange cannot be made, on any
/// rank, where the team's ranks are not of `world`, or MPI cannot count its bytes. Ranks wait within MPI's blocking
/// calls, where nothing tells them of one that fails.
std::shared_ptr<const gas::ExchangeMethod> mpi_exchange(MpiExchange kind, MPI_Comm world);

}  // namespace penstock::lab
#endif

// Exchanges by MPI's own calls, as programs make them without this library, for comparison. Included by exchange.hpp.
#pragma once

#include <memory>

#include "penstock/base/config.hpp"
#include "penstock/gas/gas.hpp"

#if PENSTOCK_HAS_MPI
#include <mpi.h>

namespace penstock::lab {

enum class MpiExchange {
  messages,   ///< one persistent MPI message for each message, except those to the rank itself
  alltoall,   ///< MPI_Alltoallv, blocking; call k carries the k-th message of each pair of ranks
  ialltoall,  ///< MPI_Ialltoallv; each call begins as soon as its messages are complete
};

/// The method `kind`, for teams of the world that gas::world_of has made of `world`, which must stay. Making an
/// exchange throws Error on every rank where the team's ranks are not of `world`, or where MPI cannot count the bytes.
/// Ranks wait within MPI's blocking calls, in which they do not notice a rank that fails.
std::shared_ptr<const gas::ExchangeMethod> mpi_exchange(MpiExchange kind, MPI_Comm world);

}  // namespace penstock::lab
#endif

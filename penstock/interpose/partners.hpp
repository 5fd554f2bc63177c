// With whom a rank exchanges in a collective call.
#pragma once

#include <mpi.h>

#include <optional>

#include "penstock/interpose/transfer.hpp"

namespace penstock::interpose {

/// The partners of a rank, in the order of the parts in its buffers.
struct Partners {
  int to;                    // that it sends to
  int from;                  // that it receives from
  int own = 0;               // which of them is the rank itself, where each rank is one
  bool some_absent = false;  // whether some may be MPI_PROC_NULL: their parts of the receiving buffer stay as they are

  Holds holds() const noexcept { return some_absent ? Holds::all_parts : Holds::nothing; }
};

/// Nothing where MPI has to serve the call or to report an error.
using FindPartners = std::optional<Partners>(MPI_Comm) noexcept;

/// All ranks of a communicator of one group.
FindPartners everyone_in;
/// The neighbours in the communicator's topology.
FindPartners neighbours_in;

}  // namespace penstock::interpose

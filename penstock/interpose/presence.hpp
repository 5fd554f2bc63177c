// Which ranks of the job have this library, on this node.
#pragma once

#include <string>

namespace penstock::interpose {

/// A rank with this library shows so by a name that the other processes of its node see: that of a socket in the
/// abstract namespace, which ends with the process. Nothing is sent through it. Names tell jobs apart, by what the
/// launcher gives all ranks of a job on a node; where it gives nothing, no rank is seen.
///
/// MPI_Init returns on no rank before it was called on every rank, under Open MPI and MPICH. So whether a rank is seen
/// is the same on all ranks of a node from then on.
class Presence {
 public:
  Presence();
  Presence(const Presence&) = delete;
  ~Presence();

  /// Shows that this rank has the library. To be called before MPI's own initialisation.
  void announce() noexcept;

  /// Whether the rank of this number in MPI_COMM_WORLD has the library and runs on this node.
  bool sees(int world_rank) const noexcept;

 private:
  std::string job_;  // the same on all ranks of a job on a node, and for no other job; empty where nothing tells
  std::string rank_;
  int socket_ = -1;
};

}  // namespace penstock::interpose

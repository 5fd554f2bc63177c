// The teams of BLACS's contexts: one team for each grid of processes.
#pragma once

#include <mpi.h>

#include <map>
#include <vector>

#include "penstock/gemm/gemm.hpp"

namespace penstock::scalapack {

/// The processes of a context as a team, in row-major order of the grid.
struct GridTeam {
  MPI_Comm communicator;
  gas::Team team;
  gemm::ProcessGrid grid;
};

/// The teams of all grids of processes that have multiplied, kept until MPI ends. There is one object in a process, as
/// there is one MPI.
class Grids {
 public:
  static Grids& get();
  Grids();

  /// The team of a context. Collective over the context's processes. Throws Error where this process is not one of
  /// them.
  GridTeam& of(int context);

 private:
  static int clear(MPI_Comm, int, void*, void*);

  // Keyed by the processes' ranks in MPI_COMM_WORLD, and not by context: BLACS uses the numbers of contexts again.
  std::map<std::vector<int>, GridTeam> teams_;
};

}  // namespace penstock::scalapack

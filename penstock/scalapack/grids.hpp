// The teams of the processes that BLACS's contexts are made of.
#pragma once

#include <mpi.h>

#include <map>
#include <vector>

#include "penstock/gemm/gemm.hpp"

namespace penstock::scalapack {

/// The processes of a context, row by row.
struct GridTeam {
  MPI_Comm communicator;
  gas::Team team;
  gemm::ProcessGrid grid;
};

/// A team for each grid of processes that has multiplied, kept until MPI ends. One for the process, as MPI is one.
class Grids {
 public:
  static Grids& get();
  Grids();

  /// Collective over the processes of the context. Throws Error where this process is not of it.
  GridTeam& of(int context);

 private:
  static int clear(MPI_Comm, int, void*, void*);

  // By their ranks in MPI_COMM_WORLD and not by context, whose numbers BLACS gives out again.
  std::map<std::vector<int>, GridTeam> teams_;
};

}  // namespace penstock::scalapack

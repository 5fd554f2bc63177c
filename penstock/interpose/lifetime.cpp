// Where datatypes begin and end, and where MPI ends.
#include <mpi.h>

#include <cstdio>

#include "penstock/interpose/library.hpp"

using namespace penstock::interpose;

namespace {

void announce() noexcept {
  if (Library::get().mode != Mode::off) {
    Library::get().presence.announce();
  }
}

}  // namespace

extern "C" {

int MPI_Init(int* argc, char*** argv) {
  announce();
  return PMPI_Init(argc, argv);
}

int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  announce();
  return PMPI_Init_thread(argc, argv, required, provided);
}

int MPI_Type_commit(MPI_Datatype* datatype) {
  const int result = PMPI_Type_commit(datatype);
  if (result == MPI_SUCCESS && Library::get().mode != Mode::off) {
    Library::get().types.add(*datatype);
  }
  return result;
}

int MPI_Type_dup(MPI_Datatype oldtype, MPI_Datatype* newtype) {
  const int result = PMPI_Type_dup(oldtype, newtype);
  if (result == MPI_SUCCESS && Library::get().types.holds(oldtype)) {
    Library::get().types.add(*newtype);  // a duplicate of a committed datatype is committed
  }
  return result;
}

int MPI_Type_free(MPI_Datatype* datatype) {
  if (datatype != nullptr) {
    Library::get().types.forget(*datatype);
  }
  return PMPI_Type_free(datatype);
}

int MPI_Finalize() {
  Library& library = Library::get();
  library.requests.release_orphans();
  if (library.mode == Mode::stats) {
    int rank = 0;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
      std::fprintf(stderr, "penstock: datatypes of rank 0\n%s", library.tallies.table().c_str());
    }
  }
  library.tallies.free_types();
  library.wire_types.free_all();
  return PMPI_Finalize();
}

}  // extern "C"

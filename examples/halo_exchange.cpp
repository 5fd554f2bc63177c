// A program that knows nothing of Penstock: it exchanges the strided faces of a 3-D array as MPI datatypes. The same
// binary runs faster with the library preloaded:
//   mpirun -n 2 ./halo_exchange
//   mpirun -n 2 -x LD_PRELOAD=/path/to/libpenstock-mpi-openmpi.so ./halo_exchange
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

// Ranks lie in a row along x, the direction in which neighbours' cells are furthest apart in memory.
struct Block {
  int n;  // cells in each direction, without the two planes of neighbours' cells

  int side() const { return n + 2; }
  std::size_t at(int z, int y, int x) const {
    const auto across = static_cast<std::size_t>(side());
    return (static_cast<std::size_t>(z) * across + static_cast<std::size_t>(y)) * across + static_cast<std::size_t>(x);
  }
  double value(int rank, int z, int y, int x) const { return rank * 1e9 + static_cast<double>(at(z, y, x)); }

  /// The plane of cells at `x`, `width` cells thick.
  MPI_Datatype face(int x, int width) const {
    const int sizes[] = {side(), side(), side()};
    const int inside[] = {n, n, width};
    const int start[] = {1, 1, x};
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Type_create_subarray(3, sizes, inside, start, MPI_ORDER_C, MPI_DOUBLE, &type);
    MPI_Type_commit(&type);
    return type;
  }
};

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  int ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const Block block{argc > 1 ? std::max(1, std::atoi(argv[1])) : 64};
  const int exchanges = argc > 2 ? std::max(1, std::atoi(argv[2])) : 200;
  const int left = (rank + ranks - 1) % ranks;
  const int right = (rank + 1) % ranks;

  std::vector<double> cells(block.at(block.side() - 1, block.side() - 1, block.side() - 1) + 1);
  for (int z = 0; z < block.side(); ++z) {
    for (int y = 0; y < block.side(); ++y) {
      for (int x = 0; x < block.side(); ++x) {
        cells[block.at(z, y, x)] = block.value(rank, z, y, x);
      }
    }
  }

  MPI_Datatype first = block.face(1, 1);
  MPI_Datatype last = block.face(block.n, 1);
  MPI_Datatype before = block.face(0, 1);
  MPI_Datatype behind = block.face(block.n + 1, 1);
  double best_s = 1e30;
  for (int i = 0; i < exchanges; ++i) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    MPI_Request requests[4];
    MPI_Irecv(cells.data(), 1, before, left, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(cells.data(), 1, behind, right, 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(cells.data(), 1, last, right, 0, MPI_COMM_WORLD, &requests[2]);
    MPI_Isend(cells.data(), 1, first, left, 1, MPI_COMM_WORLD, &requests[3]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    best_s = std::min(best_s, MPI_Wtime() - start);
  }

  int wrong = 0;
  for (int z = 1; z <= block.n; ++z) {
    for (int y = 1; y <= block.n; ++y) {
      wrong += cells[block.at(z, y, 0)] != block.value(left, z, y, block.n);
      wrong += cells[block.at(z, y, block.n + 1)] != block.value(right, z, y, 1);
    }
  }
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, &best_s, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  if (rank == 0) {
    std::printf("faces of %d x %d cells, %d ranks: %.1f us an exchange at best, %s\n", block.n, block.n, ranks,
                best_s * 1e6, wrong == 0 ? "all cells right" : "WRONG cells");
  }
  for (MPI_Datatype* face : {&first, &last, &before, &behind}) {
    MPI_Type_free(face);
  }
  MPI_Finalize();
  return wrong == 0 ? 0 : 1;
}

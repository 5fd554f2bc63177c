// The main program of tests that need MPI but only one process.
#include <gtest/gtest.h>
#include <mpi.h>

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  MPI_Init(&argc, &argv);
  const int failure = RUN_ALL_TESTS();
  MPI_Finalize();
  return failure;
}

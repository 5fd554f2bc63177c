// pdgemm_ and its like, called as Fortran does on BLACS's grids: ours is what the program was linked with first, and
// gives exactly what ScaLAPACK's own gives.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <mpi.h>

#include <complex>
#include <cstring>
#include <random>
#include <vector>

#include "penstock/scalapack/gain.hpp"
#include "tests/gemm/reference.hpp"
#include "tests/gemm/scalapack_array.hpp"

extern "C" {
void Cblacs_get(int context, int what, int* value);
void Cblacs_gridinit(int* context, const char* order, int rows, int columns);
void Cblacs_gridmap(int* context, int* processes, int leading, int rows, int columns);
void Cblacs_gridinfo(int context, int* rows, int* columns, int* row, int* column);
void Cblacs_gridexit(int context);
}

namespace penstock::gemm {
namespace {

template <class T>
using Pgemm = void(const char*, const char*, const int*, const int*, const int*, const T*, const T*, const int*,
                   const int*, const int*, const T*, const int*, const int*, const int*, const T*, T*, const int*,
                   const int*, const int*);

}  // namespace
}  // namespace penstock::gemm

extern "C" {
penstock::gemm::Pgemm<float> psgemm_;
penstock::gemm::Pgemm<double> pdgemm_;
penstock::gemm::Pgemm<std::complex<float>> pcgemm_;
penstock::gemm::Pgemm<std::complex<double>> pzgemm_;
}

namespace penstock::gemm {
namespace {

/// A function of ScaLAPACK's own library, whatever was linked before it.
template <class T>
Pgemm<T>* scalapacks_own(const char* name) {
  static void* library = dlopen(SCALAPACK_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  return library != nullptr ? reinterpret_cast<Pgemm<T>*>(dlsym(library, name)) : nullptr;
}

int world_size() {
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

/// One random product of sub-matrices by both, on the grid of a context.
template <class T>
void compare(int context, Pgemm<T>* ours, Pgemm<T>* theirs, unsigned seed) {
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  int rows = 0, columns = 0, row = 0, column = 0;
  Cblacs_gridinfo(context, &rows, &columns, &row, &column);
  std::mt19937 random(seed);
  const int m = 1 + static_cast<int>(random() % 50);
  const int n = 1 + static_cast<int>(random() % 50);
  const int k = 1 + static_cast<int>(random() % 50);
  const char ops[] = "NTC";
  const char op_a = ops[random() % 3];
  const char op_b = ops[random() % 3];
  const Matrix<T> a = op_a == 'N' ? random_integers<T>(m, k, random) : random_integers<T>(k, m, random);
  const Matrix<T> b = op_b == 'N' ? random_integers<T>(k, n, random) : random_integers<T>(n, k, random);
  const Matrix<T> c = random_integers<T>(m, n, random);
  const T alpha(static_cast<float>(random() % 3));
  const T beta(static_cast<float>(random() % 3));
  const CyclicLie lie_a = random_lie(rows, columns, random);
  const CyclicLie lie_b = random_lie(rows, columns, random);
  const CyclicLie lie_c = random_lie(rows, columns, random);
  const CyclicArray<T> array_a = deal_out(a, lie_a, T{9}, context, rows, columns, row, column);
  const CyclicArray<T> array_b = deal_out(b, lie_b, T{9}, context, rows, columns, row, column);
  CyclicArray<T> mine = deal_out(c, lie_c, T{9}, context, rows, columns, row, column);
  CyclicArray<T> other = mine;
  for (const auto& [function, result] : {std::pair{ours, &mine}, std::pair{theirs, &other}}) {
    function(&op_a, &op_b, &m, &n, &k, &alpha, array_a.elements.data(), &lie_a.i, &lie_a.j, array_a.descriptor.data(),
             array_b.elements.data(), &lie_b.i, &lie_b.j, array_b.descriptor.data(), &beta, result->elements.data(),
             &lie_c.i, &lie_c.j, result->descriptor.data());
  }
  EXPECT_EQ(mine.elements, other.elements);
}

/// All types, on a grid of all processes or, where `is_reversed`, of the last `rows` x `columns`, last one first.
void compare_all(int rows, int columns, bool is_reversed, unsigned seed) {
  int context = -1;
  Cblacs_get(-1, 0, &context);
  if (is_reversed) {
    std::vector<int> processes;
    for (int i = 0; i < rows * columns; ++i) {
      processes.push_back(world_size() - 1 - i);
    }
    Cblacs_gridmap(&context, processes.data(), rows, rows, columns);
  } else {
    Cblacs_gridinit(&context, columns % 2 == 0 ? "Column" : "Row", rows, columns);
  }
  int row = -1, column = -1;
  Cblacs_gridinfo(context, &rows, &columns, &row, &column);
  if (row < 0) {
    return;  // not of this grid
  }
  for (unsigned repetition = 0; repetition < 4; ++repetition) {
    compare<float>(context, psgemm_, scalapacks_own<float>("psgemm_"), ++seed);
    compare<double>(context, pdgemm_, scalapacks_own<double>("pdgemm_"), ++seed);
    compare<std::complex<float>>(context, pcgemm_, scalapacks_own<std::complex<float>>("pcgemm_"), ++seed);
    compare<std::complex<double>>(context, pzgemm_, scalapacks_own<std::complex<double>>("pzgemm_"), ++seed);
  }
  Cblacs_gridexit(context);
}

TEST(Library, TakesThePlaceOfScalapacks) {
  ASSERT_NE(scalapacks_own<double>("pdgemm_"), nullptr);
  EXPECT_NE(scalapacks_own<float>("psgemm_"), psgemm_);
  EXPECT_NE(scalapacks_own<double>("pdgemm_"), pdgemm_);
  EXPECT_NE(scalapacks_own<std::complex<float>>("pcgemm_"), pcgemm_);
  EXPECT_NE(scalapacks_own<std::complex<double>>("pzgemm_"), pzgemm_);
}

TEST(Library, MultipliesAsScalapackOnAllGrids) {
  for (int rows = 1; rows <= world_size(); ++rows) {
    if (world_size() % rows == 0) {
      compare_all(rows, world_size() / rows, false, 100u * static_cast<unsigned>(rows));
    }
  }
}

TEST(Library, MultipliesOnSomeOfTheProcesses) {
  const int columns = (world_size() + 1) / 2;
  compare_all(1, columns, true, 7000);
  MPI_Barrier(MPI_COMM_WORLD);
  compare_all(columns, 1, true, 8000);
}

TEST(Library, LeavesToScalapackWhatIsSmallOrNarrowOrOfOneRank) {
  EXPECT_TRUE(scalapack::may_gain(1536, 1536, 1536, 2));
  EXPECT_TRUE(scalapack::may_gain(1024, 1024, 4096, 4));
  EXPECT_FALSE(scalapack::may_gain(1024, 1024, 1024, 2));
  EXPECT_FALSE(scalapack::may_gain(8192, 8192, 64, 4));  // as of LU
  EXPECT_FALSE(scalapack::may_gain(4096, 4096, 4096, 1));
  EXPECT_FALSE(scalapack::may_gain(1536, 1536, 1536, 64));
  EXPECT_FALSE(scalapack::may_gain(0, 1536, 1536, 2));
}

/// A sub-matrix that is not within A, as a program's mistake.
void multiply_wrongly() {
  int context = -1;
  Cblacs_get(-1, 0, &context);
  Cblacs_gridinit(&context, "Row", 1, world_size());
  const int size = 5, one = 1, two = 2;
  const double scalar = 1;
  std::vector<double> elements(25);
  const std::array<int, 9> descriptor{1, context, size, size, size, size, 0, 0, size};
  pdgemm_("N", "N", &size, &size, &size, &scalar, elements.data(), &two, &one, descriptor.data(), elements.data(), &one,
          &one, descriptor.data(), &scalar, elements.data(), &one, &one, descriptor.data());
}

}  // namespace
}  // namespace penstock::gemm

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  testing::InitGoogleTest(&argc, argv);
  if (argc > 1 && std::strcmp(argv[1], "--wrong") == 0) {
    penstock::gemm::multiply_wrongly();
    return 0;
  }
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank != 0) {
    testing::TestEventListeners& listeners = testing::UnitTest::GetInstance()->listeners();
    delete listeners.Release(listeners.default_result_printer());
  }
  int failure = RUN_ALL_TESTS();
  int any_failure = 0;
  MPI_Allreduce(&failure, &any_failure, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  MPI_Finalize();
  return any_failure;
}

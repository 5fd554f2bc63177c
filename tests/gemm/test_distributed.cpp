// Products of matrices on ranks are exactly right on any number of ranks, in all types, operations and distributions.
#include <gtest/gtest.h>

#include <random>

#include "penstock/gas/gas.hpp"
#include "penstock/gemm/gemm.hpp"
#include "tests/fails_with.hpp"
#include "tests/gemm/reference.hpp"
#include "tests/worlds.hpp"

namespace penstock::gemm {
namespace {

using gas::Team;

/// How a matrix lies: blocks of 0 are one a rank, a grid of 0 is chosen.
struct Lie {
  gas::Index<2> blocks{};
  std::array<int, 2> grid{};
};

template <class T>
void fill(GlobalMatrix<T>& array, const Matrix<T>& matrix) {
  array.for_each_local([&](const gas::Index<2>& at, T& element) { element = matrix(at[0], at[1]); });
}

struct Shape {
  std::int64_t m, n, k;
};

/// Collective: one product, compared on every rank with the definition.
template <class T>
void check(const Team& team, const Shape& shape, Op op_a, Op op_b, const Lie& lie, unsigned seed) {
  SCOPED_TRACE(testing::Message() << team.size() << " ranks, " << shape.m << " x " << shape.n << " x " << shape.k
                                  << ", blocks " << lie.blocks[0] << " x " << lie.blocks[1] << ", seed " << seed);
  std::mt19937 random(seed);
  const auto make = [&](std::int64_t rows, std::int64_t columns, Op op) {
    return op == Op::none ? random_integers<T>(rows, columns, random) : random_integers<T>(columns, rows, random);
  };
  const Matrix<T> a = make(shape.m, shape.k, op_a);
  const Matrix<T> b = make(shape.k, shape.n, op_b);
  const Matrix<T> c = random_integers<T>(shape.m, shape.n, random);
  Scalars scalars{.alpha = static_cast<double>(random() % 3), .beta = static_cast<double>(random() % 3)};
  if (is_complex_number<T>) {
    scalars.beta += std::complex<double>(0, 1);
  }
  const auto array_of = [&](const Matrix<T>& matrix, const Lie& where) {
    return GlobalMatrix<T>(team,
                           {.extents = {matrix.rows, matrix.columns}, .blocks = where.blocks, .grid = where.grid});
  };
  GlobalMatrix<T> array_a = array_of(a, lie);
  GlobalMatrix<T> array_b = array_of(b, {.blocks = {lie.blocks[1], lie.blocks[0]}, .grid = {}});
  GlobalMatrix<T> array_c = array_of(c, lie);
  fill(array_a, a);
  fill(array_b, b);
  fill(array_c, c);
  multiply(team, op_a, op_b, scalar_of<T>(scalars.alpha), array_a, array_b, scalar_of<T>(scalars.beta), array_c,
           static_cast<int>(seed % 2) + 1);
  const Matrix<T> expected = reference(scalars, a, op_a, b, op_b, c);
  std::int64_t wrong = 0;
  array_c.for_each_local(
      [&](const gas::Index<2>& at, const T& element) { wrong += element != expected(at[0], at[1]) ? 1 : 0; });
  EXPECT_EQ(wrong, 0);
  team.barrier();
}

template <class T>
void check_all(const Team& team) {
  unsigned seed = 10;
  for (const Op op_a : {Op::none, Op::transpose, Op::conjugate_transpose}) {
    for (const Op op_b : {Op::none, Op::transpose, Op::conjugate_transpose}) {
      // Block distributions and block-cyclic ones in turn; doubles see all of both.
      if (std::is_same_v<T, double> || ++seed % 2 == 0) {
        check<T>(team, {31, 17, 23}, op_a, op_b, {}, ++seed);
      }
      if (std::is_same_v<T, double> || seed % 2 != 0) {
        check<T>(team, {20, 33, 14}, op_a, op_b, {.blocks = {4, 3}, .grid = {}}, ++seed);
      }
    }
  }
}

TEST(Distributed, IsExactInFloat64) {
  gas::on_worlds({1, 2, 3, 4, 5, 6, 7, 8, 9}, [](Team& team) { check_all<double>(team); });
}
TEST(Distributed, IsExactInFloat32) {
  gas::on_worlds({1, 4, 6}, [](Team& team) { check_all<float>(team); });
}
TEST(Distributed, IsExactInComplex64) {
  gas::on_worlds({2, 9}, [](Team& team) { check_all<std::complex<float>>(team); });
}
TEST(Distributed, IsExactInComplex128) {
  gas::on_worlds({3, 4}, [](Team& team) { check_all<std::complex<double>>(team); });
}

TEST(Distributed, ServesOddShapesAndGrids) {
  gas::on_worlds({1, 4, 7}, [](Team& team) {
    unsigned seed = 100;
    for (const Shape& shape :
         {Shape{1, 1, 1}, {1, 50, 3}, {50, 1, 3}, {3, 2, 700}, {5, 4, 0}, {0, 4, 5}, {4, 0, 5}, {130, 1100, 90}}) {
      check<double>(team, shape, Op::none, Op::transpose, {}, ++seed);
      check<double>(team, shape, Op::none, Op::none, {.blocks = {}, .grid = {team.size(), 1}}, ++seed);
      check<double>(team, shape, Op::transpose, Op::none, {.blocks = {2, 5}, .grid = {1, team.size()}}, ++seed);
    }
  });
}

TEST(Distributed, RefusesMatricesThatDoNotFit) {
  gas::on_worlds({2}, [](Team& team) {
    GlobalMatrix<double> a(team, {.extents = {3, 4}});
    GlobalMatrix<double> b(team, {.extents = {5, 6}});
    GlobalMatrix<double> c(team, {.extents = {3, 6}});
    EXPECT_TRUE(fails_with({"3 x 4", "5 x 6"}, [&] { multiply(team, Op::none, Op::none, 1.0, a, b, 0.0, c); }));
    team.barrier();
  });
}

}  // namespace
}  // namespace penstock::gemm

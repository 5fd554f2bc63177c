// ScaLAPACK's arguments give exactly ScaLAPACK's products, whatever the blocks, the grids and the sub-matrices.
#include <gtest/gtest.h>

#include <random>

#include "penstock/gas/gas.hpp"
#include "penstock/gemm/gemm.hpp"
#include "tests/fails_with.hpp"
#include "tests/gemm/reference.hpp"
#include "tests/gemm/scalapack_array.hpp"
#include "tests/worlds.hpp"

namespace penstock::gemm {
namespace {

using gas::Team;

constexpr char op_name(Op op) {
  return op == Op::none ? 'N' : op == Op::transpose ? 't' : 'C';
}

/// Collective: one product of sub-matrices, compared with the definition; what is not of sub(C) must stay.
template <class T>
void check(const Team& team, const ProcessGrid& grid, Op op_a, Op op_b, unsigned seed) {
  SCOPED_TRACE(testing::Message() << grid.rows << " x " << grid.columns << " processes, seed " << seed);
  std::mt19937 random(seed);
  const auto draw = [&](int least, int most) {
    return least + static_cast<int>(random() % static_cast<unsigned>(most - least + 1));
  };
  const int m = draw(1, 40);
  const int n = draw(1, 40);
  const int k = draw(0, 40);
  const Matrix<T> a = op_a == Op::none ? random_integers<T>(m, k, random) : random_integers<T>(k, m, random);
  const Matrix<T> b = op_b == Op::none ? random_integers<T>(k, n, random) : random_integers<T>(n, k, random);
  const Matrix<T> c = random_integers<T>(m, n, random);
  Scalars scalars{.alpha = static_cast<double>(draw(0, 2)), .beta = static_cast<double>(draw(0, 2))};
  if (is_complex_number<T>) {
    scalars.alpha += std::complex<double>(0, 1);
  }
  const int row = grid.row_of(team.rank());
  const int column = grid.column_of(team.rank());
  const auto deal = [&](const Matrix<T>& matrix, CyclicLie& lie) {
    lie = random_lie(grid.rows, grid.columns, random);
    return deal_out(matrix, lie, T{77}, 0, grid.rows, grid.columns, row, column);
  };
  CyclicLie lie_a, lie_b, lie_c;
  const CyclicArray<T> array_a = deal(a, lie_a);
  const CyclicArray<T> array_b = deal(b, lie_b);
  CyclicArray<T> array_c = deal(c, lie_c);
  pgemm(team, grid, op_name(op_a), op_name(op_b), m, n, k, scalar_of<T>(scalars.alpha), array_a.elements.data(),
        lie_a.i, lie_a.j, array_a.descriptor.data(), array_b.elements.data(), lie_b.i, lie_b.j,
        array_b.descriptor.data(), scalar_of<T>(scalars.beta), array_c.elements.data(), lie_c.i, lie_c.j,
        array_c.descriptor.data(), static_cast<int>(seed % 2) + 1);
  const Matrix<T> product = reference(scalars, a, op_a, b, op_b, c);
  EXPECT_EQ(array_c.elements, deal_out(product, lie_c, T{77}, 0, grid.rows, grid.columns, row, column).elements);
}

/// The grids that have as many processes as the team has ranks.
std::vector<ProcessGrid> grids_of(const Team& team) {
  std::vector<ProcessGrid> grids;
  for (int rows = 1; rows <= team.size(); ++rows) {
    if (team.size() % rows == 0) {
      grids.push_back(
          {rows, team.size() / rows, rows % 2 == 0 ? ProcessGrid::Order::by_columns : ProcessGrid::Order::by_rows});
    }
  }
  return grids;
}

template <class T>
void check_all_forms(const Team& team) {
  unsigned seed = 30;
  for (const ProcessGrid& grid : grids_of(team)) {
    for (const Op op_a : {Op::none, Op::transpose, Op::conjugate_transpose}) {
      for (const Op op_b : {Op::none, Op::transpose, Op::conjugate_transpose}) {
        check<T>(team, grid, op_a, op_b, ++seed);
      }
    }
  }
}

TEST(Scalapack, ProductsAreExactInFloat64) {
  gas::on_worlds({1, 2, 3, 4, 6, 8}, [](Team& team) { check_all_forms<double>(team); });
}
TEST(Scalapack, ProductsAreExactInFloat32) {
  gas::on_worlds({4, 5}, [](Team& team) { check_all_forms<float>(team); });
}
TEST(Scalapack, ProductsAreExactInComplex64) {
  gas::on_worlds({6}, [](Team& team) { check_all_forms<std::complex<float>>(team); });
}
TEST(Scalapack, ProductsAreExactInComplex128) {
  gas::on_worlds({2, 7}, [](Team& team) { check_all_forms<std::complex<double>>(team); });
}

TEST(Scalapack, RefusesWhatCannotBe) {
  gas::on_worlds({2}, [](Team& team) {
    const ProcessGrid grid{1, team.size()};
    const std::array<int, 9> good{1, 0, 6, 6, 2, 2, 0, 0, 6};
    std::vector<double> elements(36);
    const auto multiply = [&](const ProcessGrid& on, char op, int k, int ia, const std::array<int, 9>& desc_a) {
      pgemm(team, on, op, 'N', 6, 6, k, 1.0, elements.data(), ia, 1, desc_a.data(), elements.data(), 1, 1, good.data(),
            0.0, elements.data(), 1, 1, good.data());
    };
    const auto with = [&](std::size_t place, int value) {
      std::array<int, 9> descriptor = good;
      descriptor[place] = value;
      return descriptor;
    };
    EXPECT_TRUE(fails_with({"grid of 2 x", "ranks"}, [&] { multiply({2, team.size()}, 'N', 6, 1, good); }));
    EXPECT_TRUE(fails_with({"'X'", "'N', 'T' or 'C'"}, [&] { multiply(grid, 'X', 6, 1, good); }));
    EXPECT_TRUE(fails_with({"k = -1"}, [&] { multiply(grid, 'N', -1, 1, good); }));
    EXPECT_TRUE(fails_with({"(2, 1)", "6 x 6", "of A"}, [&] { multiply(grid, 'N', 6, 2, good); }));
    EXPECT_TRUE(fails_with({"type 2"}, [&] { multiply(grid, 'N', 6, 1, with(0, 2)); }));
    EXPECT_TRUE(fails_with({"0 x 2", "blocks"}, [&] { multiply(grid, 'N', 6, 1, with(4, 0)); }));
    EXPECT_TRUE(fails_with({"process (1, 0)", "grid of 1 x"}, [&] { multiply(grid, 'N', 6, 1, with(6, 1)); }));
    // On one rank alone, and not the same on all.
    EXPECT_TRUE(fails_with({"rank 1", "leading dimension 5"},
                           [&] { multiply(grid, 'N', 6, 1, with(8, team.rank() == 1 ? 5 : 6)); }));
    EXPECT_TRUE(fails_with({"p?gemm"}, [&] { multiply(grid, 'N', 6 - team.rank(), 1, good); }));
    team.barrier();
  });
}

}  // namespace
}  // namespace penstock::gemm

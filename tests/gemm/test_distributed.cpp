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

/// Collective: one product, compared on every rank with the definition; what the ranks did.
template <class T>
DistributedTimes check(const Team& team, const Shape& shape, Op op_a, Op op_b, const Lie& lie, unsigned seed,
                       MultiplyOptions options = {}) {
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
  options.threads = static_cast<int>(seed % 2) + 1;
  const DistributedTimes times = multiply(team, op_a, op_b, scalar_of<T>(scalars.alpha), array_a, array_b,
                                          scalar_of<T>(scalars.beta), array_c, options);
  const Matrix<T> expected = reference(scalars, a, op_a, b, op_b, c);
  std::int64_t wrong = 0;
  array_c.for_each_local(
      [&](const gas::Index<2>& at, const T& element) { wrong += element != expected(at[0], at[1]) ? 1 : 0; });
  EXPECT_EQ(wrong, 0);
  team.barrier();
  return times;
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

template <class T>
void check_algorithms(const Team& team) {
  unsigned seed = 200;
  for (const Algorithm algorithm : {Algorithm::cannon, Algorithm::layered}) {
    for (const Op op_a : {Op::none, Op::transpose, Op::conjugate_transpose}) {
      for (const Op op_b : {Op::none, Op::transpose, Op::conjugate_transpose}) {
        const MultiplyPlan plan = check<T>(team, {31, 17, 23}, op_a, op_b, {}, ++seed, {.algorithm = algorithm}).plan;
        EXPECT_EQ(plan.algorithm, algorithm);
      }
    }
  }
}

TEST(Distributed, AllAlgorithmsAreExactInFloat64) {
  gas::on_worlds({1, 2, 3, 4, 5, 6, 7, 8, 9}, [](Team& team) { check_algorithms<double>(team); });
}
TEST(Distributed, AllAlgorithmsAreExactInFloat32) {
  gas::on_worlds({4}, [](Team& team) { check_algorithms<float>(team); });
}
TEST(Distributed, AllAlgorithmsAreExactInComplexNumbers) {
  gas::on_worlds({4}, [](Team& team) {
    check_algorithms<std::complex<float>>(team);
    check_algorithms<std::complex<double>>(team);
  });
}

TEST(Distributed, CannonServesOddShapesAndGrids) {
  gas::on_worlds({6}, [](Team& team) {
    unsigned seed = 300;
    for (const Shape& shape :
         {Shape{1, 1, 1}, {1, 50, 3}, {50, 1, 3}, {3, 2, 700}, {5, 4, 0}, {0, 4, 5}, {13, 11, 9000}, {600, 7, 90}}) {
      for (const Algorithm algorithm : {Algorithm::cannon, Algorithm::layered}) {
        const MultiplyOptions options{.algorithm = algorithm};
        check<double>(team, shape, Op::none, Op::transpose, {}, ++seed, options);
        check<double>(team, shape, Op::none, Op::none, {.blocks = {}, .grid = {team.size(), 1}}, ++seed, options);
        check<double>(team, shape, Op::transpose, Op::none, {.blocks = {2, 5}, .grid = {1, team.size()}}, ++seed,
                      options);
      }
    }
  });
}

TEST(Distributed, LayersMayLeaveRanksWithoutWork) {
  gas::on_worlds({7, 8}, [](Team& team) {
    if (team.size() < 4) {
      return;
    }
    unsigned seed = 400;
    const int layers = team.size() / 2;
    for (const std::array<int, 3>& grid : {std::array<int, 3>{1, 2, 2}, {2, 2, 1}, {layers, 1, 2}, {3, 1, 1}}) {
      const DistributedTimes times = check<double>(team, {37, 29, 31}, Op::none, Op::none, {}, ++seed,
                                                   {.algorithm = Algorithm::layered, .layers = grid});
      EXPECT_EQ(times.plan.grid, grid);
    }
  });
}

/// A network so slow that bytes decide, without a message's own costs.
machine::Machine slow_network() {
  machine::Machine machine = machine::built_in();
  machine.count = 64;
  machine.node.gemm_rate_flops_per_core = 1e12;
  machine.network = machine::Network{.link_bandwidth_bytes_per_s = 1e8};
  machine.transports = {
      {.name = "mpi", .pieces = {{.from_bytes = 0, .latency_s = 1e-9, .bandwidth_bytes_per_s = 1e8}}}};
  return machine;
}

TEST(Distributed, TheModelChoosesWhatMovesLess) {
  const machine::Machine machine = slow_network();
  gas::on_worlds({8}, [&](Team& team) {
    const auto plan = [&](std::int64_t m, std::int64_t n, std::int64_t k, std::uint64_t memory_bytes) {
      return plan_multiply(team, npy::DataType::float64, m, n, k, {2, team.size() / 2},
                           {.memory_bytes = memory_bytes, .machine = &machine});
    };
    const bool all_mapped = team.is_local(0) && team.is_local(team.size() - 1);
    if (all_mapped) {
      EXPECT_EQ(plan(1000, 1000, 1000, 1 << 30).algorithm, Algorithm::stationary);
    } else if (team.size() == 4) {
      // Cannon's 2 x 2 receives 1/2 n^2 words a rank of a square product, and the layers' sum is no less than that.
      EXPECT_EQ(plan(1000, 1000, 1000, 1 << 30).algorithm, Algorithm::cannon);
      // A long k is best cut: C is small.
      const MultiplyPlan cut = plan(100, 100, 100000, 1 << 30);
      EXPECT_EQ(cut.algorithm, Algorithm::layered);
      EXPECT_EQ(cut.grid, (std::array<int, 3>{4, 1, 1}));
      EXPECT_GT(cut.predicted_s, 0);
      // Where not even that has room, nothing that needs more is taken.
      EXPECT_EQ(plan(100, 100, 100000, 1 << 10).algorithm, Algorithm::cannon);
    }
  });
}

TEST(Distributed, RefusesOptionsThatCannotBe) {
  gas::on_worlds({2}, [](Team& team) {
    const auto plan = [&](const MultiplyOptions& options) {
      plan_multiply(team, npy::DataType::float64, 9, 9, 9, {1, team.size()}, options);
    };
    EXPECT_TRUE(fails_with({"99 layers"}, [&] { plan({.algorithm = Algorithm::layered, .layers = {99, 1, 1}}); }));
    EXPECT_TRUE(fails_with({"0 layers"}, [&] { plan({.algorithm = Algorithm::layered, .layers = {0, 1, 1}}); }));
    EXPECT_TRUE(fails_with({"cannon", "layered"}, [&] {
      plan({.algorithm = Algorithm::cannon, .layers = {1, 1, 1}});
    }));
    EXPECT_TRUE(fails_with({"algorithm of a multiply"},
                           [&] { plan({.algorithm = team.rank() == 0 ? Algorithm::cannon : Algorithm::stationary}); }));
    team.barrier();
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

// Products across ranks with one bad rank.
#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "penstock/gemm/gemm.hpp"
#include "tests/collective/one_bad_rank.hpp"

namespace penstock::gemm {
namespace {

using gas::Team;

constexpr std::int64_t n = 60;

void multiply_squares(const Team& team, Op op_a, double alpha, const MultiplyOptions& options) {
  const gas::ArrayShape<2> shape{.extents = {n, n}};
  GlobalMatrix<double> a(team, shape);
  GlobalMatrix<double> b(team, shape);
  GlobalMatrix<double> c(team, shape);
  multiply(team, op_a, Op::none, alpha, a, b, 0.0, c, options);
}

/// Rank 1 throws where it first waits within the multiply.
void fail_midway(const Team& team, Algorithm algorithm) {
  const gas::ArrayShape<2> shape{.extents = {n, n}};
  GlobalMatrix<double> a(team, shape);
  GlobalMatrix<double> b(team, shape);
  GlobalMatrix<double> c(team, shape);
  Trap trap(team);
  for (int i = 0; i < 100; ++i) {
    trap.set();
    multiply(team, Op::none, Op::none, 1.0, a, b, 0.0, c, {.algorithm = algorithm});
  }
}

TEST(OneBadRank, FailsProductsOnEveryRank) {
  const MultiplyOptions stationary{.algorithm = Algorithm::stationary};
  const Case cases[] = {
      {"gemm::plan_multiply",
       [](const Team& team, bool is_bad) {
         const MultiplyOptions options{.algorithm = Algorithm::layered, .layers = {1, is_bad ? 4 : 1, 1}};
         plan_multiply(team, npy::DataType::float64, n, n, n, {1, 3}, options);
       }},
      {"gemm::plan_multiply, another algorithm",
       [](const Team& team, bool is_bad) {
         const MultiplyOptions options{.algorithm = is_bad ? Algorithm::cannon : Algorithm::stationary};
         plan_multiply(team, npy::DataType::float64, n, n, n, {1, 3}, options);
       }},
      {"gemm::multiply, other sizes",
       [](const Team& team, bool is_bad) {
         GlobalMatrix<double> a(team, {.extents = {n, n}});
         GlobalMatrix<double> other(team, {.extents = {n, n + 1}});
         GlobalMatrix<double> c(team, {.extents = {n, n}});
         multiply(team, Op::none, Op::none, 1.0, a, is_bad ? other : a, 0.0, c);
       }},
      {"gemm::multiply, another op",
       [&](const Team& team, bool is_bad) {
         multiply_squares(team, is_bad ? Op::transpose : Op::none, 1, stationary);
       }},
      {"gemm::multiply, another alpha",
       [&](const Team& team, bool is_bad) { multiply_squares(team, Op::none, is_bad ? 2 : 1, stationary); }},
      {"gemm::multiply, no threads",
       [&](const Team& team, bool is_bad) { multiply_squares(team, Op::none, 1, {.threads = is_bad ? 0 : 1}); }},
      {"gemm::multiply, stationary, a handler throws midway",
       [](const Team& team, bool) { fail_midway(team, Algorithm::stationary); }},
      {"gemm::multiply, by Cannon's algorithm, a handler throws midway",
       [](const Team& team, bool) { fail_midway(team, Algorithm::cannon); }},
      {"gemm::pgemm",
       [](const Team& team, bool is_bad) {
         const std::array<int, 9> whole{1, 0, 12, 12, 2, 2, 0, 0, 12};
         const std::vector<double> a(144), b(144);
         std::vector<double> c(144);
         pgemm(team, ProcessGrid{.rows = 1, .columns = 3}, 'N', is_bad ? 'X' : 'N', 12, 12, 12, 1.0, a.data(), 1, 1,
               whole.data(), b.data(), 1, 1, whole.data(), 0.0, c.data(), 1, 1, whole.data());
       }},
      {"gemm::measure_rate",
       [](const Team& team, bool is_bad) { measure_rate(team, is_bad ? 0 : 1, npy::DataType::float64); }},
  };
  expect_all_ranks_throw(cases);
}

}  // namespace
}  // namespace penstock::gemm

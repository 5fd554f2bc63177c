// The check of products finds the rows that are wrong, and no others.
#include <gtest/gtest.h>

#include <numeric>
#include <random>

#include "penstock/gas/gas.hpp"
#include "penstock/gemm/gemm.hpp"
#include "tests/gemm/reference.hpp"
#include "tests/worlds.hpp"

namespace penstock::gemm {
namespace {

using gas::Team;

template <class T>
ElementAt element_at(const Matrix<T>& matrix) {
  return [&matrix](std::int64_t i, std::int64_t j) { return std::complex<double>(matrix(i, j)); };
}

/// Collective: how many rows of all ranks are wrong where `is_changed(row, column)` elements are one too large.
template <class T, class IsChanged>
std::int64_t wrong_rows_of(const Team& team, Op op_a, Op op_b, gas::Index<2> blocks, const IsChanged& is_changed) {
  constexpr std::int64_t m = 13;
  constexpr std::int64_t n = 11;
  constexpr std::int64_t k = 7;
  std::mt19937 random(5);
  const auto make = [&](std::int64_t rows, std::int64_t columns, Op op) {
    return op == Op::none ? random_integers<T>(rows, columns, random) : random_integers<T>(columns, rows, random);
  };
  const Matrix<T> a = make(m, k, op_a);
  const Matrix<T> b = make(k, n, op_b);
  const Matrix<T> before = make(m, n, Op::none);
  const Scalars scalars{.alpha = -2, .beta = 3};
  const Matrix<T> product = reference(scalars, a, op_a, b, op_b, before);
  GlobalMatrix<T> c(team, {.extents = {m, n}, .blocks = blocks});
  c.for_each_local([&](const gas::Index<2>& at, T& element) {
    element = product(at[0], at[1]) + (is_changed(at[0], at[1]) ? T(1) : T(0));
  });
  const KnownProduct known{.op_a = op_a,
                           .op_b = op_b,
                           .scalars = scalars,
                           .k = k,
                           .a = element_at(a),
                           .b = element_at(b),
                           .c_before = element_at(before)};
  const auto all = team.all_gather(wrong_rows(c, known, [](std::int64_t j) { return static_cast<double>(j % 5 + 1); }));
  return std::accumulate(all.begin(), all.end(), std::int64_t{0});
}

template <class T>
void expect_found() {
  gas::on_worlds({1, 2, 4}, [](Team& team) {
    for (const gas::Index<2> blocks : {gas::Index<2>{0, 0}, gas::Index<2>{3, 2}}) {
      for (const Op op_a : {Op::none, Op::transpose, Op::conjugate_transpose}) {
        for (const Op op_b : {Op::none, Op::transpose, Op::conjugate_transpose}) {
          SCOPED_TRACE(testing::Message() << team.size() << " ranks, operations " << static_cast<int>(op_a) << " and "
                                          << static_cast<int>(op_b) << ", blocks of " << blocks[0] << " rows");
          const auto count = [&](const auto& is_changed) {
            return wrong_rows_of<T>(team, op_a, op_b, blocks, is_changed);
          };
          EXPECT_EQ(count([](std::int64_t, std::int64_t) { return false; }), 0);
          EXPECT_EQ(count([](std::int64_t i, std::int64_t j) { return i == 12 && j == 10; }), 1);
          EXPECT_EQ(count([](std::int64_t i, std::int64_t j) { return i % 3 == 0 && j == i % 11; }), 5);
        }
      }
    }
  });
}

TEST(ProductCheck, FindsWrongRowsOfRealNumbers) {
  expect_found<float>();
  expect_found<double>();
}

TEST(ProductCheck, FindsWrongRowsOfComplexNumbers) {
  expect_found<std::complex<float>>();
  expect_found<std::complex<double>>();
}

}  // namespace
}  // namespace penstock::gemm

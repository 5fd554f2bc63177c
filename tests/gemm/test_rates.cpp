// The rate of multiplies is one for all ranks, and what a machine can do.
#include <gtest/gtest.h>

#include "penstock/gemm/gemm.hpp"
#include "tests/worlds.hpp"

namespace penstock::gemm {
namespace {

TEST(MultiplyRate, IsOneFigureForAllRanks) {
  gas::on_worlds({2}, [](gas::Team& team) {
    const Rate rate = measure_rate(team, 1, npy::DataType::float64);
    EXPECT_GE(rate.rounds, 1);
    EXPECT_GT(rate.median_flops, 1e6);
    EXPECT_GE(rate.best_flops, rate.median_flops);
    EXPECT_LT(rate.best_flops, 1e15);
    for (const double other : team.all_gather(rate.best_flops)) {
      EXPECT_EQ(other, rate.best_flops);
    }
    for (const double other : team.all_gather(rate.median_flops)) {
      EXPECT_EQ(other, rate.median_flops);
    }
  });
}

}  // namespace
}  // namespace penstock::gemm

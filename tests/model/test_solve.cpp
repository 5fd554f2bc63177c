// Arguments are found at which a time is the one that is wanted, and those that come nearest where there is none.
#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/model/model.hpp"
#include "tests/fails_with.hpp"

namespace penstock::model {
namespace {

double falling_s(double argument) {
  return 1000 / argument;
}

double rising_s(double argument) {
  return 0.3 * argument;
}

/// As a model that takes at most 100.
double limited_s(double argument) {
  if (argument > 100) {
    throw Error("at most 100");
  }
  return falling_s(argument);
}

TEST(SolveForTime, FindsTheArgumentFromAboveAndFromBelow) {
  for (const double start : {1.0, 1e-6, 1e7, 250.0}) {
    const Solution falling = solve_for_time(falling_s, start, 4, false);
    EXPECT_TRUE(falling.is_found);
    EXPECT_NEAR(falling.argument, 250, 1e-9);
    EXPECT_EQ(falling.time_s, falling_s(falling.argument));
    EXPECT_NEAR(solve_for_time(rising_s, start, 75, false).argument, 250, 1e-9);
  }
}

TEST(SolveForTime, OfWholeNumbersTakesTheNearestThatTakesNoMore) {
  for (const double start : {1.0, 7.0, 5000.0}) {
    EXPECT_EQ(solve_for_time(falling_s, start, 3, true).argument, 334) << start;
    EXPECT_EQ(solve_for_time(rising_s, start, 1, true).argument, 3) << start;
  }
}

TEST(SolveForTime, TellsTheNearestTimeWhereThereIsNone) {
  const Solution bounded = solve_for_time([](double argument) { return 5 + 1 / argument; }, 1, 4, false);
  EXPECT_FALSE(bounded.is_found);
  EXPECT_NEAR(bounded.time_s, 5, 1e-3);
  const Solution limited = solve_for_time(limited_s, 10, 1, false);
  EXPECT_FALSE(limited.is_found);
  EXPECT_EQ(limited.argument, 80);
  EXPECT_TRUE(fails_with({"at most 100"}, [] { solve_for_time(limited_s, 200, 1, false); }));
}

TEST(FirstWithinTime, IsTheFirstThatReachesItOrTheShortest) {
  const std::array arguments{300.0, 1.0, 8.0, 50.0, 80.0, 100.0, 200.0};
  const Solution found = first_within_time(limited_s, arguments, 25);
  EXPECT_TRUE(found.is_found);
  EXPECT_EQ(found.argument, 50);
  EXPECT_EQ(found.time_s, 20);
  const Solution shortest = first_within_time(limited_s, arguments, 1);
  EXPECT_FALSE(shortest.is_found);
  EXPECT_EQ(shortest.argument, 100);
  const std::array refused{101.0, 1e9};
  EXPECT_TRUE(fails_with({"at most 100"}, [&] { first_within_time(limited_s, refused, 1); }));
}

TEST(NumbersOfNodes, AreThoseThatGridsFitAndAllOfThem) {
  EXPECT_EQ(numbers_of_nodes(17), (std::vector<double>{1, 2, 3, 4, 5, 6, 8, 9, 10, 12, 15, 16, 17}));
  EXPECT_EQ(numbers_of_nodes(1), std::vector<double>{1});
}

}  // namespace
}  // namespace penstock::model

// The benchmark reproduces the published checksums on any number of ranks, and notices when it does not.
#include <gtest/gtest.h>

#include <complex>
#include <cstdint>
#include <limits>

#include "penstock/lab/nas/nas.hpp"
#include "tests/fails_with.hpp"
#include "tests/worlds.hpp"

namespace penstock::lab::nas {
namespace {

fft::Options quick() {
  fft::Options options;
  options.effort = fft::Effort::estimate;
  return options;
}

void expect_verified(const gas::Team& team, char name, const fft::Options& options) {
  const Problem problem = problem_of_class(name);
  int steps_told = 0;
  const Result result =
      run(team, problem, options, [&](int step, std::complex<double>) { EXPECT_EQ(step, ++steps_told); });
  EXPECT_EQ(steps_told, problem.steps());
  EXPECT_TRUE(result.is_verified) << "class " << name << " on " << team.size() << " ranks";
  EXPECT_EQ(result.checksums.size(), static_cast<std::size_t>(problem.steps()));
  EXPECT_GT(result.rate_mops, 0);
  const Breakdown& spent = result.breakdown;
  EXPECT_LE(spent.plan_s + spent.setup_s + spent.fft_s + spent.evolve_s + spent.checksum_s, result.time_s * 1.000001);
}

TEST(Run, ClassSIsVerifiedHoweverManyPlanesShareAMessage) {
  gas::on_worlds({1, 2, 3, 4, 6}, [](gas::Team& team) {
    fft::Options options = quick();
    for (const std::optional<std::int64_t> planes : {std::optional<std::int64_t>(), {0}, {1}, {5}}) {
      options.planes_per_message = planes;
      expect_verified(team, 'S', options);
    }
  });
}

TEST(Run, ClassSIsVerifiedOnEveryGrid) {
  gas::on_worlds({2, 3, 4, 6}, [](gas::Team& team) {
    for (int ty = 1; ty <= team.size(); ++ty) {
      if (team.size() % ty == 0) {
        fft::Options options = quick();
        options.grid = {ty, team.size() / ty};
        expect_verified(team, 'S', options);
      }
    }
  });
}

TEST(Run, ClassSIsVerifiedWithThreeThreadsPerRank) {
  gas::on_worlds({1, 2, 3, 4, 6}, [](gas::Team& team) {
    fft::Options options = quick();
    options.threads = 3;
    expect_verified(team, 'S', options);
  });
}

TEST(Run, ClassWIsVerifiedWhoseExtentsDiffer) {
  gas::on_worlds({3}, [](gas::Team& team) { expect_verified(team, 'W', quick()); });
}

TEST(Run, ACallersSizeTypeOutputAndBatchDoNotMatter) {
  fft::Options options = quick();
  options.size = {5, 3, 2};
  options.type = fft::Type::r2c;
  options.output = fft::Output::as_input;
  options.batch = 3;
  gas::on_worlds({2}, [&](gas::Team& team) { expect_verified(team, 'S', options); });
}

TEST(Run, AWrongPublishedChecksumIsNoticedInItsStep) {
  const gas::Team team = gas::world_alone();
  const Problem right = problem_of_class('S');
  for (const std::size_t step : {std::size_t{0}, right.checksums.size() - 1}) {
    for (const std::complex<double> change : {std::complex<double>(2e-9, 0), std::complex<double>(0, -2e-9),
                                              std::complex<double>(std::numeric_limits<double>::quiet_NaN(), 0)}) {
      Problem wrong = right;
      wrong.checksums[step] += change;
      const Result result = run(team, wrong, quick());
      EXPECT_FALSE(result.is_verified) << "step " << step;
      for (std::size_t other = 0; other < right.checksums.size(); ++other) {
        EXPECT_EQ(result.errors[other] <= tolerance, other != step);
      }
    }
  }
}

TEST(Run, AClassThatDoesNotFitTheMemoryIsRefusedOnEveryRankBeforeAnyIsTaken) {
  gas::on_worlds({2}, [](gas::Team& team) {
    fft::Options options = quick();
    options.memory_budget_bytes = 1 << 20;
    EXPECT_TRUE(fails_with({"wants", "which has 1.00 MiB"}, [&] { run(team, problem_of_class('S'), options); }));
    fft::Options plan = quick();
    plan.size = problem_of_class('S').size;
    options.memory_budget_bytes = gas::max_on_a_node(team, fft::memory_need<double>(team, plan).total_bytes() + 1);
    EXPECT_TRUE(fails_with({"class S wants"}, [&] { run(team, problem_of_class('S'), options); }));
    options.memory_budget_bytes = std::uint64_t{1} << 40;
    EXPECT_TRUE(fails_with({"wants", "TiB"}, [&] { run(team, problem_of_class('F'), options); }));
  });
}

TEST(Problem, EveryPublishedClassIsThereAndNoOther) {
  for (const char name : {'S', 'W', 'A', 'B', 'C', 'D', 'E', 'F'}) {
    const Problem problem = problem_of_class(name);
    EXPECT_EQ(problem.name, name);
    EXPECT_TRUE(problem.steps() == 6 || problem.steps() == 20 || problem.steps() == 25);
    for (const std::complex<double> checksum : problem.checksums) {
      EXPECT_NEAR(std::abs(checksum), 730, 50);  // a slip in a digit of the table would mostly show
    }
  }
  EXPECT_TRUE(fails_with({"no class 'X'"}, [] { problem_of_class('X'); }));
  EXPECT_TRUE(fails_with({"S, W, A, B, C, D, E or F"}, [] { problem_of_class('a'); }));
}

// 5.23518 and the like are the benchmark's own; this is its formula, worked by hand for 2^18 points and 6 steps.
TEST(Problem, OperationsAreCountedByTheBenchmarksFormula) {
  EXPECT_NEAR(million_operations(problem_of_class('S')), 177.2, 0.1);
}

}  // namespace
}  // namespace penstock::lab::nas

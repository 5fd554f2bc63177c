// Plans with arrays of their own: peers leave in them what would be moved last, in a pass less, and calls take no
// others as their result.
#include <gtest/gtest.h>

#include <complex>
#include <span>
#include <vector>

#include "penstock/fft/fft.hpp"
#include "tests/fails_with.hpp"
#include "tests/fft/reference.hpp"
#include "tests/worlds.hpp"

namespace penstock::fft {
namespace {

using Complex = std::complex<double>;

Options with_arrays(Options options) {
  options.has_arrays = true;
  return options;
}

/// Pencils along x to pencils along z, of boxes that are not alike.
Options redistribution(const gas::Team& team) {
  Options options = estimated({9, 13, 10});
  options.along = {false, false, false};
  const Range y = shape::part_of(options.size[1], team.size(), team.rank());
  const Range x = shape::part_of(options.size[0], team.size(), team.size() - 1 - team.rank());
  options.input_part = Distribution{.box = {{0, y.lower, 0}, {options.size[0], y.extent, options.size[2]}}};
  options.output_part =
      Distribution{.box = {{x.lower, 0, 0}, {x.extent, options.size[1], options.size[2]}}, .order = {0, 1, 2}};
  return options;
}

TEST(OwnArrays, TakeARedistributionInOnePassWhereRanksMapThem) {
  gas::on_worlds({1, 2, 3, 5}, [](gas::Team& team) {
    const Plan<double> plan(team, with_arrays(redistribution(team)));
    EXPECT_EQ(plan.decision().passes, team.are_all_local() ? 1 : 2);
    const Plan<double> of_user(team, redistribution(team));
    EXPECT_EQ(of_user.decision().passes, 2);
    EXPECT_EQ(plan.memory().array_bytes,
              plan.input_array<Complex>().size_bytes() + plan.output_array<Complex>().size_bytes());
    EXPECT_EQ(of_user.memory().array_bytes, 0U);
  });
}

TEST(OwnArrays, HaveRedistributionsOfBatchesThereAndBack) {
  gas::on_worlds({1, 2, 3, 5}, [](gas::Team& team) {
    for (const bool is_interleaved : {false, true}) {
      Options options = with_arrays(redistribution(team));
      options.batch = 3;
      options.is_interleaved = is_interleaved;
      options.input_part->components = options.output_part->components = is_interleaved ? 3 : 1;
      options.threads = 2;
      EXPECT_EQ(worst_error<double>(team, options), 0);
      EXPECT_EQ(worst_error<float>(team, options), 0);
    }
  });
}

TEST(OwnArrays, HaveTheSpectrumAsTheInputInOnePassLess) {
  gas::on_worlds({1, 2, 3, 4, 6}, [](gas::Team& team) {
    for (const Type type : {Type::c2c, Type::r2c, Type::r2r}) {
      Options options = estimated({12, 9, 10});
      options.type = type;
      options.output = Output::as_input;
      options.grid = {1, team.size()};  // z is cut, and transformed last
      const Decision of_user = Plan<double>(team, options).decision();
      options = with_arrays(options);
      EXPECT_LE(worst_error<double>(team, options, Scaling::symmetric), 4 * tolerance<double>(options.size));
      const Plan<double> plan(team, options);
      const bool is_moved = of_user.forward_stages.back().is_move;
      EXPECT_EQ(is_moved, team.size() > 1);
      EXPECT_EQ(plan.decision().passes, of_user.passes - (team.are_all_local() && is_moved ? 1 : 0));
    }
  });
}

TEST(OwnArrays, AreWhatPlanningByMeasuringTimes) {
  gas::on_worlds({2, 4}, [](gas::Team& team) {
    for (const Type type : {Type::c2c, Type::r2c, Type::r2r}) {
      Options options = with_arrays(estimated({12, 9, 10}));
      options.type = type;
      options.output = Output::as_input;
      options.planning = Planning::measure;
      options.planning_budget_s = 0.05;
      EXPECT_LE(worst_error<double>(team, options), 4 * tolerance<double>(options.size));
    }
  });
}

TEST(OwnArrays, MayBeOfOneRankAlone) {
  gas::on_worlds({1, 2, 4}, [](gas::Team& team) {
    Options options = with_arrays(redistribution(team));
    options.output_part = Distribution{.box = {{}, team.rank() == team.size() - 1 ? options.size : Extents{}}};
    EXPECT_EQ(worst_error<double>(team, options), 0);
    const Plan<double> plan(team, options);
    EXPECT_EQ(plan.output_array<Complex>().size(), team.rank() == team.size() - 1 ? 9U * 13 * 10 : 0U);
  });
}

TEST(OwnArrays, AreFilledWhileTheCallerWorks) {
  gas::on_worlds({1, 2, 3}, [](gas::Team& team) {
    Plan<double> plan(team, with_arrays(redistribution(team)));
    const auto in = plan.input_array<Complex>();
    const auto out = plan.output_array<Complex>();
    const auto value = [](std::int64_t x, std::int64_t y, std::int64_t z) {
      return Complex(static_cast<double>(x + 10 * y), static_cast<double>(z));
    };
    const auto for_each = [](const Distribution& part, const auto& visit) {
      const auto& [lower, extent] = part.box;
      for (std::int64_t x = lower[0]; x < lower[0] + extent[0]; ++x) {
        for (std::int64_t y = lower[1]; y < lower[1] + extent[1]; ++y) {
          for (std::int64_t z = lower[2]; z < lower[2] + extent[2]; ++z) {
            visit(static_cast<std::size_t>(part.position(x, y, z)), x, y, z);
          }
        }
      }
    };
    for_each(plan.input(), [&](std::size_t i, auto... point) { in[i] = value(point...); });
    for (int round = 0; round < 3; ++round) {
      std::ranges::fill(out, Complex(-1));
      Execution execution = plan.start_forward(std::span<const Complex>(in), out);
      while (!execution.progress()) {
      }
      std::int64_t wrong = 0;
      for_each(plan.output(), [&](std::size_t i, auto... point) { wrong += out[i] == value(point...) ? 0 : 1; });
      EXPECT_EQ(wrong, 0);
    }
  });
}

TEST(OwnArrays, AreTheOnlyOnesThatCallsLeaveResultsIn) {
  gas::on_worlds({1, 2}, [](gas::Team& team) {
    const auto refuses = [&](const auto& call) {
      Plan<double> plan(team, with_arrays(estimated({16, 15, 14})));
      std::vector<Complex> others(static_cast<std::size_t>(plan.input_stride()));
      EXPECT_TRUE(fails_with({"output_array", "input_array"}, [&] { call(plan, std::span(others)); }));
    };
    refuses([](Plan<double>& plan, std::span<Complex> others) {
      plan.forward(std::span<const Complex>(plan.input_array<Complex>()), others);
    });
    refuses([](Plan<double>& plan, std::span<Complex>) {
      const auto array = plan.output_array<Complex>();
      plan.forward(std::span<const Complex>(array), array);
    });
    refuses([](Plan<double>& plan, std::span<Complex>) {
      const auto array = plan.output_array<Complex>();
      plan.backward(std::span<const Complex>(plan.input_array<Complex>()), array);
    });
    // The input may be any.
    Plan<double> plan(team, with_arrays(estimated({16, 15, 14})));
    const std::vector<Complex> others(static_cast<std::size_t>(plan.input_stride()));
    plan.forward(std::span(others), plan.output_array<Complex>());
    plan.backward(std::span(others), plan.input_array<Complex>());
  });
}

TEST(OwnArrays, AreOfThePlansNumbers) {
  gas::on_worlds({1, 2}, [](gas::Team& team) {
    Options options = with_arrays(estimated({8, 6, 4}));
    options.type = Type::r2c;
    const Plan<float> plan(team, options);
    EXPECT_GE(plan.input_array<float>().size(), static_cast<std::size_t>(plan.input().elements()));
    EXPECT_EQ(plan.output_array<std::complex<float>>().size(), static_cast<std::size_t>(plan.output().elements()));
    EXPECT_TRUE(fails_with({"real or complex"}, [&] { plan.output_array<float>(); }));
    EXPECT_TRUE(fails_with({"real or complex"}, [&] { plan.input_array<std::complex<float>>(); }));
    const Plan<double> without(team, estimated({8, 6, 4}));
    EXPECT_TRUE(fails_with({"Options::has_arrays"}, [&] { without.input_array<Complex>(); }));
  });
}

}  // namespace
}  // namespace penstock::fft

// Transforms along some of the directions, and by sines and cosines, against the definition.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/fft/fft.hpp"
#include "tests/fft/reference.hpp"
#include "tests/worlds.hpp"

namespace penstock::fft {
namespace {

constexpr std::array<std::string_view, 11> kind_names{"redft00", "redft10", "redft01", "redft11", "rodft00", "rodft10",
                                                      "rodft01", "rodft11", "r2hc",    "hc2r",    "dht"};

std::string name_of(const Options& options) {
  const auto [x, y, z] = options.along;
  std::string name = fmt::format("{}x{}x{}_along_{}{}{}_", options.size[0], options.size[1], options.size[2],
                                 x ? "x" : "", y ? "y" : "", z ? "z" : "");
  if (options.type != Type::r2r) {
    return name + (options.type == Type::c2c ? "c2c" : "r2c");
  }
  for (int d = 0; d < 3; ++d) {
    name += kind_names[static_cast<std::size_t>(*real_kind(options, d))];
  }
  return name;
}

class Directions : public testing::TestWithParam<Options> {};

TEST_P(Directions, AgreeWithTheDefinitionOnEveryGrid) {
  gas::on_worlds({1, 2, 3, 4, 6, 8}, [](gas::Team& team) {
    Options options = GetParam();
    for (const Output output : {Output::transposed, Output::as_input}) {
      options.output = output;
      for (int ty = 1; ty <= team.size(); ++ty) {
        if (team.size() % ty == 0) {
          options.grid = {ty, team.size() / ty};
          options.planes_per_message = ty % 3;
          options.deferred_parts = 3 * ty % 8;
          options.threads = 1 + ty % 2;
          EXPECT_LE(worst_error<double>(team, options, Scaling::none, ty % 2 == 1), tolerance<double>(options.size))
              << "grid " << ty << " x " << options.grid.tz;
        }
      }
    }
    options.grid = {};
    options.batch = 2;
    EXPECT_LE(worst_error<float>(team, options, Scaling::symmetric, true), tolerance<float>(options.size));
    EXPECT_LE(worst_error<float>(team, options, Scaling::full), tolerance<float>(options.size));
  });
}

Options options_of(const Extents& size, Type type, const std::array<bool, 3>& along) {
  Options options;
  options.size = size;
  options.type = type;
  options.along = along;
  options.effort = Effort::estimate;
  return options;
}

std::vector<Options> directions() {
  std::vector<Options> all;
  for (const Type type : {Type::c2c, Type::r2c, Type::r2r}) {
    for (const unsigned bits : {1U, 2U, 3U, 4U, 5U, 6U}) {
      const std::array along{(bits & 1U) != 0, (bits & 2U) != 0, (bits & 4U) != 0};
      all.push_back(options_of(bits % 2 == 0 ? Extents{24, 18, 20} : Extents{13, 7, 11}, type, along));
    }
  }
  return all;
}

std::vector<Options> kinds() {
  std::vector<Options> all;
  for (int i = 0; i < 11; ++i) {
    Options options = options_of(i % 2 == 0 ? Extents{20, 24, 18} : Extents{7, 5, 13}, Type::r2r, {true, true, true});
    options.kinds = {static_cast<RealKind>(i), static_cast<RealKind>((i + 3) % 11),
                     static_cast<RealKind>((3 * i) % 11)};
    all.push_back(options);
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(Some, Directions, testing::ValuesIn(directions()),
                         [](const auto& tested) { return name_of(tested.param); });
INSTANTIATE_TEST_SUITE_P(Kinds, Directions, testing::ValuesIn(kinds()),
                         [](const auto& tested) { return name_of(tested.param); });

TEST(DirectionsOfAPlan, AreExchangedOnlyWhereTheyMustBe) {
  gas::on_worlds({1, 4}, [](gas::Team& team) {
    const auto plan = [&](const std::array<bool, 3>& along, Type type) {
      return Plan<double>(team, options_of({16, 16, 16}, type, along));
    };
    for (const Type type : {Type::c2c, Type::r2r}) {
      for (const std::array<bool, 3> along :
           {std::array{true, false, false}, std::array{false, true, false}, std::array{false, false, true}}) {
        EXPECT_EQ(plan(along, type).decision().forward_stages.size(), 1U);
        EXPECT_EQ(plan(along, type).memory().exchange_bytes, 0U);
      }
      // Planes are whole on every rank.
      EXPECT_EQ(plan({true, true, false}, type).decision().forward_stages.size(), 2U);
      EXPECT_EQ(plan({true, false, true}, type).decision().passes, 2);
      EXPECT_EQ(plan({false, true, true}, type).decision().passes, 2);
    }
  });
}

TEST(DirectionsOfAPlan, AreRefusedWhereThereAreNoneOrTooFewPoints) {
  gas::on_worlds({1, 2}, [](gas::Team& team) {
    const auto refusal_of = [&](const Options& options) -> std::string {
      try {
        const Plan<double> plan(team, options);
      } catch (const Error& error) {
        return error.what();
      }
      return {};
    };
    EXPECT_EQ(refusal_of(options_of({8, 8, 8}, Type::c2c, {})), "");
    EXPECT_NE(refusal_of(options_of({8, 8, 8}, Type::r2c, {})).find("without a Fourier transform"), std::string::npos);
    Options options = options_of({8, 1, 8}, Type::r2r, {true, true, true});
    options.kinds[1] = RealKind::redft00;
    EXPECT_NE(refusal_of(options).find("redft00 needs at least 2 points"), std::string::npos);
    options.along[1] = false;
    EXPECT_EQ(refusal_of(options), "");
    options = options_of({8, 8, 8}, Type::r2r, {true, true, true});
    options.kinds[2] = team.rank() == 0 ? RealKind::redft10 : RealKind::redft01;
    EXPECT_EQ(refusal_of(options).empty(), team.size() == 1);
  });
}

}  // namespace
}  // namespace penstock::fft

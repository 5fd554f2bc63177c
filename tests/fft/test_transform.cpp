// Every kind of transform on worlds of 1 to 8 ranks, against the definition.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <ostream>
#include <string>

#include "penstock/fft/fft.hpp"
#include "tests/fft/reference.hpp"
#include "tests/worlds.hpp"

namespace penstock::fft {
namespace {

struct GridCase {
  Extents size;
  Type type;
  Output output;
  std::int64_t planes_per_message;
};

std::string name_of(const GridCase& c) {
  return fmt::format("{}x{}x{}_{}_{}_{}", c.size[0], c.size[1], c.size[2], c.type == Type::c2c ? "c2c" : "r2c",
                     c.output == Output::transposed ? "transposed" : "as_input",
                     c.planes_per_message == 0 ? "packed" : "slabs");
}

/// How GoogleTest and CTest show a case.
void PrintTo(const GridCase& c, std::ostream* out) {
  *out << name_of(c);
}

std::vector<GridCase> grid_cases() {
  std::vector<GridCase> all;
  for (const Extents& size : {Extents{32, 32, 32}, Extents{24, 25, 18}, Extents{13, 11, 7}, Extents{1, 32, 16},
                              Extents{5, 3, 2}, Extents{1, 1, 1}}) {
    for (const Type type : {Type::c2c, Type::r2c}) {
      for (const Output output : {Output::transposed, Output::as_input}) {
        for (const std::int64_t planes_per_message : {0, 1}) {
          all.push_back({size, type, output, planes_per_message});
        }
      }
    }
  }
  return all;
}

class Transform : public testing::TestWithParam<GridCase> {
 protected:
  Options options() const {
    Options options;
    options.size = GetParam().size;
    options.type = GetParam().type;
    options.output = GetParam().output;
    options.planes_per_message = GetParam().planes_per_message;
    options.deferred_parts = 0;
    options.effort = Effort::estimate;
    return options;
  }
};

TEST_P(Transform, AgreesWithTheDefinitionOnEveryGrid) {
  gas::on_worlds({1, 2, 3, 4, 6, 7, 8}, [&](gas::Team& team) {
    for (int ty = 1; ty <= team.size(); ++ty) {
      if (team.size() % ty == 0) {
        Options options = this->options();
        options.grid = {ty, team.size() / ty};
        options.movers = ty % 2 == 0 ? Movers::ahead_of_time : Movers::compiled;
        EXPECT_LE(worst_error<double>(team, options), tolerance<double>(options.size))
            << "grid " << ty << " x " << options.grid.tz;
        options.movers = ty % 2 == 0 ? Movers::compiled : Movers::ahead_of_time;
        EXPECT_LE(worst_error<float>(team, options), tolerance<float>(options.size))
            << "grid " << ty << " x " << options.grid.tz;
      }
    }
  });
}

TEST_P(Transform, AgreesWithTheDefinitionInPlaceWithThreadsBatchesAndDeferredParts) {
  Options options = this->options();
  options.threads = 3;
  options.batch = 2;
  options.planes_per_message = 3 * GetParam().planes_per_message;
  options.deferred_parts = 5;
  gas::on_worlds({1, 2, 4}, [&](gas::Team& team) {
    EXPECT_LE(worst_error<double>(team, options, Scaling::symmetric, true), tolerance<double>(options.size));
    EXPECT_LE(worst_error<float>(team, options, Scaling::full, false), tolerance<float>(options.size));
  });
}

TEST_P(Transform, AgreesWithTheDefinitionOfInterleavedFields) {
  Options options = this->options();
  options.batch = 3;
  options.is_interleaved = true;
  options.threads = 2;
  options.planes_per_message = 2 * GetParam().planes_per_message;
  options.deferred_parts = 2;
  gas::on_worlds({1, 2, 3, 4}, [&](gas::Team& team) {
    EXPECT_LE(worst_error<double>(team, options), tolerance<double>(options.size));
    EXPECT_LE(worst_error<float>(team, options, Scaling::full, true), tolerance<float>(options.size));
  });
}

TEST(TransformWithAProgressThread, AgreesWithTheDefinitionAndHasOneWhereThereIsANetwork) {
  gas::on_worlds({1, 2, 3}, [](gas::Team& team) {
    Options options{.size = {24, 25, 18}, .planes_per_message = 2, .progress = Progress::thread, .threads = 2};
    EXPECT_EQ(Plan<double>(team, options).decision().has_progress_thread, !team.are_all_local());
    EXPECT_LE(worst_error<double>(team, options), tolerance<double>(options.size));
    options.progress = Progress::tiles;
    EXPECT_FALSE(Plan<double>(team, options).decision().has_progress_thread);
  });
}

INSTANTIATE_TEST_SUITE_P(All, Transform, testing::ValuesIn(grid_cases()),
                         [](const auto& tested) { return name_of(tested.param); });

}  // namespace
}  // namespace penstock::fft

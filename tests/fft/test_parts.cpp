// Fields and spectra distributed as the user says, by index ranges: results, what they cost, what is refused.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/fft/fft.hpp"
#include "penstock/fft/parts.hpp"
#include "tests/fft/reference.hpp"
#include "tests/worlds.hpp"

namespace penstock::fft {
namespace {

/// Part `index` of `parts` uneven ones of [0, n), the first of which are the shorter: unlike those of the grids.
std::pair<std::int64_t, std::int64_t> uneven_part(std::int64_t n, int parts, int index) {
  const auto begin = [&](int i) { return n * i * (i + 1) / (static_cast<std::int64_t>(parts) * (parts + 1)); };
  return {begin(index), begin(index + 1) - begin(index)};
}

/// Bricks: the ranks as `cuts` in x, y and z, or those of them that there are; `shift` says which rank has which.
Box brick(const Extents& points, const std::array<int, 3>& cuts, int ranks, int rank, int shift) {
  std::array<int, 3> parts = cuts;
  if (parts[0] * parts[1] * parts[2] != ranks) {
    parts = ranks % 2 == 0 ? std::array<int, 3>{2, 1, ranks / 2} : std::array<int, 3>{1, ranks, 1};
  }
  const int number = (rank + shift) % ranks;
  const std::array<int, 3> place{number % parts[0], number / parts[0] % parts[1], number / parts[0] / parts[1]};
  Box box;
  for (std::size_t d = 0; d < 3; ++d) {
    std::tie(box.lower[d], box.extent[d]) = uneven_part(points[d], parts[d], place[d]);
  }
  return box;
}

Extents spectrum_points(const Extents& size, Type type) {
  return {type == Type::r2c ? size[0] / 2 + 1 : size[0], size[1], size[2]};
}

struct PartsCase {
  Extents size;
  Type type;
  std::array<int, 3> input_order;
  std::array<int, 3> output_order;
  std::int64_t planes_per_message;
};

std::string name_of(const PartsCase& c) {
  return fmt::format("{}x{}x{}_{}_{}{}{}_to_{}{}{}_{}_planes", c.size[0], c.size[1], c.size[2],
                     c.type == Type::c2c ? "c2c" : "r2c", c.input_order[0], c.input_order[1], c.input_order[2],
                     c.output_order[0], c.output_order[1], c.output_order[2], c.planes_per_message);
}

/// How GoogleTest and CTest show a case.
void PrintTo(const PartsCase& c, std::ostream* out) {
  *out << name_of(c);
}

class Parts : public testing::TestWithParam<PartsCase> {
 protected:
  Options options_for(const gas::Team& team, bool has_input, bool has_output) const {
    const PartsCase& c = GetParam();
    Options options;
    options.size = c.size;
    options.type = c.type;
    options.effort = Effort::estimate;
    options.planes_per_message = c.planes_per_message;
    options.deferred_parts = team.size() % 8;
    if (has_input) {
      options.input_part = {brick(c.size, {2, 2, 2}, team.size(), team.rank(), 0), c.input_order};
    }
    if (has_output) {
      const Extents points = spectrum_points(c.size, c.type);
      options.output_part = {brick(points, {1, 2, 2}, team.size(), team.rank(), 1), c.output_order};
    }
    return options;
  }
};

TEST_P(Parts, AgreeWithTheDefinition) {
  gas::on_worlds({1, 2, 3, 4, 6, 7, 8}, [&](gas::Team& team) {
    for (const auto& [has_input, has_output] :
         {std::pair(true, true), std::pair(true, false), std::pair(false, true)}) {
      Options options = options_for(team, has_input, has_output);
      EXPECT_LE(worst_error<double>(team, options), tolerance<double>(options.size)) << has_input << has_output;
      options.output = Output::as_input;
      options.threads = 3;
      EXPECT_LE(worst_error<float>(team, options, Scaling::full, true), tolerance<float>(options.size))
          << has_input << has_output;
    }
  });
}

/// `part` with so many elements more from row to row and from plane to plane.
Distribution padded(Distribution part, std::int64_t row, std::int64_t plane) {
  const Extents strides = part.strides();
  const auto rows = part.box.extent[static_cast<std::size_t>(part.order[1])];
  part.row_pitch = strides[static_cast<std::size_t>(part.order[1])] + row;
  part.plane_pitch = rows * part.row_pitch + plane;
  return part;
}

TEST_P(Parts, MayHavePadding) {
  gas::on_worlds({1, 2, 3, 6}, [&](gas::Team& team) {
    Options options = options_for(team, true, true);
    options.batch = 1 + team.size() % 2;
    options.threads = 2;
    options.input_part = padded(*options.input_part, 3 + team.rank(), 0);
    options.output_part = padded(*options.output_part, team.rank() % 2, 5);
    for (const bool is_in_place : {false, true}) {
      EXPECT_LE(worst_error<double>(team, options, Scaling::none, is_in_place), tolerance<double>(options.size));
      EXPECT_LE(worst_error<float>(team, options, Scaling::full, is_in_place), tolerance<float>(options.size));
    }
    options.output_part.reset();
    options.output = Output::as_input;
    EXPECT_LE(worst_error<double>(team, options), tolerance<double>(options.size));
  });
}

TEST_P(Parts, AgreeWithTheDefinitionOnEveryGridInPlaceWithBatches) {
  gas::on_worlds({4}, [&](gas::Team& team) {
    for (int ty = 1; ty <= team.size(); ty *= 2) {
      if (team.size() % ty == 0) {
        Options options = options_for(team, true, true);
        options.grid = {ty, team.size() / ty};
        options.batch = 2;
        options.threads = 2;
        EXPECT_LE(worst_error<double>(team, options, Scaling::symmetric, true), tolerance<double>(options.size))
            << "grid " << ty << " x " << options.grid.tz;
      }
    }
  });
}

std::vector<PartsCase> parts_cases() {
  std::vector<PartsCase> all;
  const std::vector<std::array<int, 3>> orders{{2, 1, 0}, {0, 1, 2}, {1, 2, 0}, {0, 2, 1}, {2, 0, 1}, {1, 0, 2}};
  std::size_t i = 0;
  for (const Extents& size : {Extents{24, 18, 25}, Extents{13, 11, 7}, Extents{40, 3, 2}, Extents{1, 1, 1}}) {
    for (const Type type : {Type::c2c, Type::r2c}) {
      for (const std::int64_t planes : {0, 1, 3}) {
        all.push_back({size, type, orders[i % 6], orders[(i + i / 6 + 1) % 6], planes});
        ++i;
      }
    }
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(All, Parts, testing::ValuesIn(parts_cases()),
                         [](const auto& tested) { return name_of(tested.param); });

std::uint64_t sum_over_ranks(const gas::Team& team, std::uint64_t mine) {
  const auto all = team.all_gather(mine);
  return std::accumulate(all.begin(), all.end(), std::uint64_t{0});
}

TEST(PartsOfAPlan, CostAnExchangeEachUnlessTheyArePencils) {
  gas::on_worlds({1, 2, 4}, [](gas::Team& team) {
    const Extents size{16, 16, 16};
    constexpr std::uint64_t field_bytes = 16 * 16 * 16 * sizeof(std::complex<double>);
    const Plan<double> pencils(team, estimated(size));
    const auto bytes_of = [&](const Plan<double>& plan) {
      std::uint64_t bytes = 0;
      for (const StagePlan& stage : plan.decision().forward_stages) {
        bytes += stage.bytes_read + stage.bytes_written;
      }
      return sum_over_ranks(team, bytes);
    };
    Options options = estimated(size);
    options.input_part = pencils.input();
    options.output_part = pencils.output();
    EXPECT_EQ(Plan<double>(team, options).decision().passes, pencils.decision().passes);
    // Another order costs nothing more either.
    options.input_part->order = {2, 0, 1};
    options.output_part->order = {2, 0, 1};
    const Plan<double> ordered(team, options);
    EXPECT_EQ(ordered.memory().exchange_bytes, pencils.memory().exchange_bytes);
    if (team.size() % 2 == 0) {  // of odd numbers the bricks are slabs
      options.input_part->box = brick(size, {1, 1, 1}, team.size(), team.rank(), 1);
      const Plan<double> bricks(team, options);
      EXPECT_EQ(bytes_of(bricks), bytes_of(ordered) + 2 * field_bytes);
      EXPECT_GE(sum_over_ranks(team, bricks.memory().exchange_bytes),
                sum_over_ranks(team, ordered.memory().exchange_bytes) + field_bytes);
      EXPECT_TRUE(bricks.decision().forward_stages.front().is_move);
      EXPECT_TRUE(bricks.decision().backward_stages.back().is_move);
    }
  });
}

bool moves_only(const StagePlan& stage) {
  return stage.is_move;
}

/// The part `index` of [0, n) cut as FFTW cuts: into ranges of ceil(n / parts), of which the last may be short or
/// empty.
Range fftw_part(std::int64_t n, int parts, int index) {
  const std::int64_t block = divide_up<std::int64_t>(n, parts);
  const std::int64_t lower = std::min(n, block * index);
  return {lower, std::min(n, lower + block) - lower};
}

// Planes along z, and along y where the spectrum is transposed, in blocks as FFTW's.
TEST(PartsOfAPlan, CostNoExchangeWhereTheyAreSlabs) {
  gas::on_worlds({1, 2, 3, 4, 6, 7}, [](gas::Team& team) {
    for (const Type type : {Type::c2c, Type::r2c, Type::r2r}) {
      const Extents size{18, 11, 13};
      const Extents points = spectrum_points(size, type);
      const Range y = fftw_part(points[1], team.size(), team.rank());
      const Range z = fftw_part(points[2], team.size(), team.rank());
      Options options = estimated(size);
      options.type = type;
      options.input_part = Distribution{.box = {{0, 0, z.lower}, {size[0], size[1], z.extent}}};
      options.output_part =
          Distribution{.box = {{0, y.lower, 0}, {points[0], y.extent, points[2]}}, .order = {1, 2, 0}};
      const Plan<double> plan(team, options);
      EXPECT_TRUE(std::ranges::none_of(plan.decision().forward_stages, moves_only));
      EXPECT_TRUE(std::ranges::none_of(plan.decision().backward_stages, moves_only));
      EXPECT_EQ(plan.decision().passes, 2);
      EXPECT_TRUE(plan.decision().is_plane_in_cache);
      EXPECT_LE(worst_error<double>(team, options), tolerance<double>(size)) << static_cast<int>(type);
      EXPECT_LE(worst_error<double>(team, options, Scaling::full, true), tolerance<double>(size));
      // A field that lies the other way round: one of its slabs is not whole along the direction that is first.
      options.output_part.reset();
      options.output = Output::as_input;
      EXPECT_LE(worst_error<double>(team, options), tolerance<double>(size));
    }
  });
}

TEST(PartsOfAPlan, CostNoExchangeWhereTheyArePencils) {
  gas::on_worlds({4, 6, 8}, [](gas::Team& team) {
    if (team.size() < 4 || team.size() % 2 != 0) {
      return;
    }
    const Extents size{13, 11, 15};
    const int rows = team.size() / 2;
    const auto box = [&](std::size_t whole, std::size_t cut, std::size_t halved) {
      Box mine;
      mine.extent[whole] = size[whole];
      const Range row = fftw_part(size[cut], rows, team.rank() % rows);
      const Range half = fftw_part(size[halved], 2, team.rank() / rows);
      mine.lower[cut] = row.lower;
      mine.extent[cut] = row.extent;
      mine.lower[halved] = half.lower;
      mine.extent[halved] = half.extent;
      return mine;
    };
    Options options = estimated(size);
    options.input_part = Distribution{.box = box(0, 1, 2)};
    options.output_part = Distribution{.box = box(2, 0, 1), .order = {0, 1, 2}};
    for (const Grid& grid : {Grid{}, Grid{2, team.size() / 2}}) {
      options.grid = grid;
      const Plan<double> plan(team, options);
      EXPECT_TRUE(std::ranges::none_of(plan.decision().forward_stages, moves_only));
      EXPECT_LE(worst_error<double>(team, options), tolerance<double>(size));
    }
  });
}

// The rank that has all would transform alone.
TEST(PartsOfAPlan, AreSpreadBeforeTheyAreTransformed) {
  gas::on_worlds({3, 4, 8}, [](gas::Team& team) {
    if (team.size() < 3) {
      return;
    }
    const Extents size{8, 12, 10};
    Options options = estimated(size);
    options.grid = {1, team.size()};
    options.input_part = Distribution{.box = {{}, team.rank() == team.size() - 1 ? size : Extents{}}};
    const Plan<double> plan(team, options);
    EXPECT_TRUE(plan.decision().forward_stages.front().is_move);
    EXPECT_LE(worst_error<double>(team, options), tolerance<double>(size));
  });
}

TEST(PartsOfAPlan, CostNoExchangeForTheirPadding) {
  gas::on_worlds({1, 2, 3, 4}, [](gas::Team& team) {
    for (const Type type : {Type::c2c, Type::r2c, Type::r2r}) {
      for (const Extents& size : {Extents{32, 24, 20}, Extents{15, 9, 14}}) {
        Options options = estimated(size);
        options.type = type;
        const Plan<double> pencils(team, options);
        options.input_part = padded(pencils.input(), 2, 7);
        options.output_part = padded(pencils.output(), 1, 0);
        const Plan<double> plan(team, options);
        EXPECT_EQ(plan.decision().passes, pencils.decision().passes);
        EXPECT_EQ(plan.memory().exchange_bytes, pencils.memory().exchange_bytes);
        EXPECT_EQ(plan.input().row_pitch, options.input_part->row_pitch);
        EXPECT_LE(worst_error<double>(team, options), tolerance<double>(size)) << static_cast<int>(type);
        EXPECT_LE(worst_error<float>(team, options, Scaling::full, true), tolerance<float>(size));
      }
    }
  });
}

TEST(PartsOfAPlan, MayHavePaddingWhereAPlanConvolves) {
  gas::on_worlds({1, 2, 3}, [](gas::Team& team) {
    const Extents size{16, 9, 14};
    Options options = estimated(size);
    options.input_part = padded(Plan<double>(team, options).input(), 3, 4);
    options.convolves = true;
    Plan<double> plan(team, options);
    const std::vector<std::complex<double>> field = make_field<double>(size, plan.input(), Type::c2c, 0);
    std::vector<std::complex<double>> result(field.size(), 0.25);
    plan.convolve(field, std::span(result), [](std::int64_t, std::int64_t, std::span<std::complex<double>>) {});
    for (std::size_t i = 0; i < field.size(); ++i) {
      ASSERT_LE(std::abs(result[i] - field[i]), 1e-14) << i;
    }
  });
}

// The function sees all fields of a mode at once.
TEST(PartsOfAPlan, MayHaveInterleavedFieldsWhereAPlanConvolves) {
  gas::on_worlds({1, 2, 3}, [](gas::Team& team) {
    for (const int batch : {2, 3, 8}) {
      Options options = estimated({16, 9, 14});
      options.threads = 2;
      options.batch = batch;
      options.is_interleaved = true;
      options.convolves = true;
      Plan<double> plan(team, options);
      const auto fields = static_cast<std::size_t>(batch);
      const std::vector<std::complex<double>> field = make_field<double>(
          {16 * batch, 9, 14}, {.box = {{}, {static_cast<std::int64_t>(plan.input().elements()), 1, 1}}}, Type::c2c, 0);
      std::vector<std::complex<double>> result(field.size());
      plan.convolve(field, std::span(result), [&](std::int64_t, std::int64_t, std::span<std::complex<double>> row) {
        for (std::size_t k = 0; k < row.size(); k += fields) {
          std::rotate(row.begin() + static_cast<std::ptrdiff_t>(k), row.begin() + static_cast<std::ptrdiff_t>(k + 1),
                      row.begin() + static_cast<std::ptrdiff_t>(k + fields));
        }
      });
      for (std::size_t i = 0; i < field.size(); ++i) {
        const std::size_t other = (i % fields + 1) % fields;  // each field has become the one before it
        ASSERT_LE(std::abs(result[i] - field[i - i % fields + other]), 1e-14) << i << " of " << batch;
      }
    }
  });
}

// As FFTW has them: rows of 2 (nx/2 + 1) real numbers, the spectrum's in the same places.
TEST(PartsOfAPlan, MayBeRowsOfRealNumbersThatHoldTheirSpectrum) {
  gas::on_worlds({1, 2, 3}, [](gas::Team& team) {
    for (const std::int64_t nx : {16, 15}) {
      const Extents size{nx, 12, 10};
      Options options = estimated(size);
      options.type = Type::r2c;
      options.input_part = Plan<double>(team, options).input();
      options.input_part->row_pitch = 2 * (nx / 2 + 1);
      options.output = Output::as_input;
      const Plan<double> plan(team, options);
      EXPECT_EQ(plan.input_stride(), 2 * plan.output().elements());
      EXPECT_EQ(plan.input().strides()[1], 2 * plan.output().strides()[1]);
      EXPECT_EQ(plan.input().strides()[2], 2 * plan.output().strides()[2]);
      EXPECT_LE(worst_error<double>(team, options, Scaling::none, true), tolerance<double>(size));
    }
  });
}

TEST(PartsOfAPlan, AreRefusedWhereTheirPaddingIsNone) {
  gas::on_worlds({1, 2}, [](gas::Team& team) {
    const auto refused = [&](std::int64_t row_pitch, std::int64_t plane_pitch, const std::string& part) {
      Options options = estimated({8, 6, 16});
      options.input_part = Plan<double>(team, options).input();
      if (team.rank() == 0) {
        options.input_part->row_pitch = row_pitch;
        options.input_part->plane_pitch = plane_pitch;
      }
      expect_refusal(team, options, part);
    };
    refused(7, 0, "has rows of 8 elements and a pitch of 7 from row to row");
    refused(-8, 0, "a pitch of -8 from row to row");
    refused(9, 10, "9 elements apart, and a pitch of 10 from plane to plane");
    refused(0, std::int64_t{1} << 57, "from plane to plane");
    refused(std::int64_t{1} << 62, 0, "from row to row");
    refused(0, std::int64_t{1} << 56, "no memory holds them");
  });
}

TEST(PartsOfAPlan, AreRefusedWhereTheyDoNotHoldEveryPointOnce) {
  gas::on_worlds({2, 3}, [](gas::Team& team) {
    if (team.size() < 2) {
      return;
    }
    const bool is_last = team.rank() == team.size() - 1;
    Options options = estimated({8, 6, 4});
    options.input_part = {{{0, 0, 0}, is_last ? Extents{8, 6, 4} : Extents{0, 0, 0}}};
    EXPECT_NO_THROW(Plan<double>(team, options));
    Options wrong = options;
    wrong.input_part->box = team.rank() == 1 ? Box{{0, 0, 2}, {8, 6, 2}} : Box{{0, 0, 0}, {8, 6, 1}};
    wrong.input_part->box = team.rank() >= 2 ? Box{} : wrong.input_part->box;
    expect_refusal(team, wrong, "no rank's input part holds the point (0, 0, 1)");
    wrong.input_part->box = team.rank() == 1 ? Box{{0, 0, 2}, {8, 6, 2}} : Box{{0, 0, 0}, {8, 6, 3}};
    wrong.input_part->box = team.rank() >= 2 ? Box{} : wrong.input_part->box;
    expect_refusal(team, wrong, "the input parts of ranks 0 and 1 overlap: both hold the point (0, 0, 2)");
    wrong = options;
    if (is_last) {
      wrong.input_part->box.extent[1] = 7;
    }
    expect_refusal(team, wrong, "8x7x4 points from (0, 0, 0) on, does not lie within the 8x6x4 points");
    wrong = options;
    if (is_last) {
      wrong.input_part.reset();
    }
    expect_refusal(team, wrong, "give it on every rank or on none");
    wrong = options;
    wrong.input_part->order = is_last ? std::array<int, 3>{0, 1, 2} : std::array<int, 3>{2, 1, 0};
    expect_refusal(team, wrong, "stored in another order than that of rank 0");
    wrong.input_part->order = {0, 1, 1};
    expect_refusal(team, wrong, "has the order 0, 1, 1");
    // The spectrum of real fields has 5 coefficients in x.
    wrong = options;
    wrong.type = Type::r2c;
    wrong.output_part = options.input_part;
    expect_refusal(team, wrong, "does not lie within the 5x6x4 points");
  });
}

// Each rank's spectrum is made of the other's input alone, which may be there before its own threads have read theirs.
TEST(PartsOfAPlan, AreNotOverwrittenBeforeTheyAreRead) {
  gas::on_worlds({2}, [](gas::Team& team) {
    if (team.size() != 2) {
      return;
    }
    const Extents size{64, 32, 8};
    Options options = estimated(size);
    options.along = {true, false, false};
    options.threads = 3;
    options.input_part = {{{0, 0, 4 * team.rank()}, {64, 32, 4}}, {2, 1, 0}};
    options.output_part = {{{0, 0, 4 - 4 * team.rank()}, {64, 32, 4}}, {0, 1, 2}};
    Plan<double> plan(team, options);
    const auto field = make_field<double>(size, plan.input(), Type::c2c, 0);
    const Reference reference = transform_by_definition<double>(options, 0);
    double worst = 0;
    for (int round = 0; round < 300; ++round) {
      auto data = field;
      plan.forward(std::span<const std::complex<double>>(data), std::span(data));
      worst = std::max(worst, relative_error(team, compare(size, plan.output(), data.data(), *reference, 1)));
    }
    EXPECT_LE(worst, tolerance<double>(size));
  });
}

TEST(FindTilingMistake, FindsAHoleBetweenBoxes) {
  const Boxes ring{{{0, 0, 0}, {3, 1, 1}}, {{0, 1, 0}, {1, 2, 1}}, {{1, 2, 0}, {2, 1, 1}}, {{2, 1, 0}, {1, 1, 1}}};
  EXPECT_NE(find_tiling_mistake(ring, {3, 3, 1}, "output").find("no rank's output part holds the point (1, 1, 0)"),
            std::string::npos);
  EXPECT_EQ(find_tiling_mistake({{{0, 0, 0}, {2, 3, 4}}, {}}, {2, 3, 4}, "output"), "");
}

}  // namespace
}  // namespace penstock::fft

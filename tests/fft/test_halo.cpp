// Halos of random boxes, widths and orders: each cell holds the point that it stands for, and others stay as they were.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/fft/fft.hpp"
#include "tests/fails_with.hpp"
#include "tests/fft/draws.hpp"
#include "tests/worlds.hpp"

namespace penstock::fft {
namespace {

/// Three bytes: no machine's number.
using Cell = std::array<std::uint8_t, 3>;

constexpr Cell untouched{255, 255, 255};

/// Of a point of the field.
Cell cell_of(std::int64_t x, std::int64_t y, std::int64_t z, int round) {
  return {static_cast<std::uint8_t>(x + 16 * round), static_cast<std::uint8_t>(y), static_cast<std::uint8_t>(z)};
}

/// What the halo's cell (x, y, z) of `box` holds after an exchange, where it is not the box's.
Cell expected_of(const HaloOptions& options, const Extents& cell, int round) {
  Extents point = cell;
  int faces = 0;
  for (std::size_t d = 0; d < 3; ++d) {
    const Box& box = options.box;
    faces += cell[d] < box.lower[d] || cell[d] >= box.lower[d] + box.extent[d] ? 1 : 0;
    const std::int64_t n = options.size[d];
    if (cell[d] < 0 || cell[d] >= n) {
      if (!options.is_periodic[d]) {
        return untouched;
      }
      point[d] = (cell[d] + n) % n;
    }
  }
  return faces > 1 && !options.has_corners ? untouched : cell_of(point[0], point[1], point[2], round);
}

template <class Visit>
void for_each_cell(const Box& box, const Visit& visit) {
  for (std::int64_t z = box.lower[2]; z < box.lower[2] + box.extent[2]; ++z) {
    for (std::int64_t y = box.lower[1]; y < box.lower[1] + box.extent[1]; ++y) {
      for (std::int64_t x = box.lower[0]; x < box.lower[0] + box.extent[0]; ++x) {
        visit(x, y, z);
      }
    }
  }
}

TEST(Halo, HoldsThePointsThatItsCellsStandFor) {
  gas::on_worlds({1, 2, 3, 4, 6, 8}, [](gas::Team& team) {
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
      Draws draws(seed);
      HaloOptions options{.element_bytes = sizeof(Cell)};
      for (std::size_t d = 0; d < 3; ++d) {
        options.size[d] = draws.number(1, 9);
        options.below[d] = draws.number(0, std::min<std::int64_t>(options.size[d], 3));
        options.above[d] = draws.number(0, std::min<std::int64_t>(options.size[d], 3));
        options.is_periodic[d] = draws.coin();
      }
      options.has_corners = draws.coin();
      draws.shuffle(options.order);
      std::vector<Box> boxes;
      cut(draws, {{}, options.size}, team.size(), {0, 1, 2}, boxes);
      draws.shuffle(boxes);
      options.box = boxes[static_cast<std::size_t>(team.rank())];
      Halo halo(team, options);
      const Distribution& array = halo.array();
      const auto at = [&](std::int64_t x, std::int64_t y, std::int64_t z) {
        return static_cast<std::size_t>(array.position(x, y, z));
      };
      std::vector<Cell> cells(static_cast<std::size_t>(array.elements()), untouched);
      int wrong = 0;
      for (int round = 0; round < 2; ++round) {
        for_each_cell(options.box, [&](std::int64_t x, std::int64_t y, std::int64_t z) {
          cells[at(x, y, z)] = cell_of(x, y, z, round);
        });
        if (round == 0) {
          halo.exchange(std::span(cells));
        } else {
          halo.start(std::as_writable_bytes(std::span(cells)));
          halo.finish();
        }
        for_each_cell(array.box, [&](std::int64_t x, std::int64_t y, std::int64_t z) {
          wrong += cells[at(x, y, z)] != expected_of(options, {x, y, z}, round) ? 1 : 0;
        });
      }
      EXPECT_EQ(wrong, 0) << "seed " << seed << " on " << team.size() << " ranks, rank " << team.rank() << ": size "
                          << fmt::format("{}, below {}, above {}", fmt::join(options.size, "x"),
                                         fmt::join(options.below, ","), fmt::join(options.above, ","));
    }
  });
}

TEST(Halo, LeavesABoxThatPlansTransformWhereItLies) {
  gas::on_worlds({1, 2, 3}, [](gas::Team& team) {
    Options options{.size = {12, 10, 9}, .effort = Effort::estimate};
    const Distribution part = Plan<double>(team, options).input();
    Halo halo(team, {.size = options.size,
                     .box = part.box,
                     .below = {2, 1, 3},
                     .above = {1, 0, 2},
                     .element_bytes = sizeof(std::complex<double>)});
    options.input_part = halo.inside();
    options.output = Output::as_input;
    Plan<double> plan(team, options);
    std::vector<std::complex<double>> cells(static_cast<std::size_t>(halo.array().elements()));
    const auto& lower = part.box.lower;
    const auto first = static_cast<std::size_t>(halo.array().position(lower[0], lower[1], lower[2]));
    for_each_cell(part.box, [&](std::int64_t x, std::int64_t y, std::int64_t z) {
      cells[static_cast<std::size_t>(halo.array().position(x, y, z))] = {static_cast<double>(x * y),
                                                                         static_cast<double>(z)};
    });
    const std::span inside = std::span(cells).subspan(first);
    plan.forward(std::span<const std::complex<double>>(inside), inside);
    plan.backward(std::span<const std::complex<double>>(inside), inside, Scaling::full);
    halo.exchange(std::span(cells));
    const auto n = options.size;
    for_each_cell(halo.array().box, [&](std::int64_t x, std::int64_t y, std::int64_t z) {
      const std::complex<double> expected{static_cast<double>((x + n[0]) % n[0] * ((y + n[1]) % n[1])),
                                          static_cast<double>((z + n[2]) % n[2])};
      EXPECT_LE(std::abs(cells[static_cast<std::size_t>(halo.array().position(x, y, z))] - expected), 1e-12);
    });
  });
}

TEST(Halo, RefusesWhatItCannotUse) {
  gas::on_worlds({1, 2}, [](gas::Team& team) {
    const shape::Range z = shape::part_of(16, team.size(), team.rank());
    const HaloOptions good{.size = {8, 6, 16}, .box = {{0, 0, z.lower}, {8, 6, z.extent}}};
    const auto refused = [&](auto change, const char* part) {
      HaloOptions options = good;
      change(options);
      EXPECT_TRUE(fails_with({part}, [&] { Halo halo(team, options); }));
    };
    refused([](HaloOptions& o) { o.below[2] = 17; }, "a halo of width 17 around a field of 16 points");
    refused([](HaloOptions& o) { o.above[0] = -1; }, "a halo of width -1");
    refused([](HaloOptions& o) { o.order = {0, 0, 1}; }, "the order 0, 0, 1");
    refused([](HaloOptions& o) { o.element_bytes = 0; }, "elements of 0 bytes");
    refused([](HaloOptions& o) { o.box.extent[0] = 7; }, "no rank's field part holds the point");
    Halo halo(team, good);
    std::vector<double> cells(static_cast<std::size_t>(halo.array().elements()) - 1);
    EXPECT_TRUE(fails_with({"is too short"}, [&] { halo.exchange(std::span(cells)); }));
  });
}

}  // namespace
}  // namespace penstock::fft

// In what order workers walk the panels: each sees all of its part of k once, no two want the same one at a time, and
// what is said to have been at a neighbour has been there.
#include <gtest/gtest.h>

#include <set>
#include <utility>

#include "penstock/gemm/cannon_grid.hpp"

namespace penstock::gemm {
namespace {

const CannonGrid::Shape shapes[] = {{1, 1, 1}, {1, 2, 2}, {1, 3, 3}, {1, 2, 3},
                                    {1, 2, 4}, {1, 5, 1}, {2, 2, 2}, {3, 1, 2}};

TEST(CannonGrid, EveryTermOfEveryElementIsMadeOnce) {
  constexpr CannonGrid::Size size{7, 11, 53};
  for (const CannonGrid::Shape& shape : shapes) {
    const CannonGrid grid(shape, size, 4);
    std::vector<int> made(static_cast<std::size_t>(size.m * size.n * size.k));
    for (int worker = 0; worker < grid.workers(); ++worker) {
      for (int step = 0; step < grid.steps(); ++step) {
        const Range panel = grid.panel(worker, step);
        EXPECT_LE(panel.extent, grid.depth());
        for (std::int64_t i = grid.rows(worker).lower; i < grid.rows(worker).end(); ++i) {
          for (std::int64_t j = grid.columns(worker).lower; j < grid.columns(worker).end(); ++j) {
            for (std::int64_t k = panel.lower; k < panel.end(); ++k) {
              ++made[static_cast<std::size_t>((i * size.n + j) * size.k + k)];
            }
          }
        }
      }
    }
    EXPECT_EQ(std::set<int>(made.begin(), made.end()), std::set<int>{1});
  }
}

TEST(CannonGrid, NoTwoWorkersWantThePanelOfOneAtATime) {
  for (const CannonGrid::Shape& shape : shapes) {
    const CannonGrid grid(shape, {64, 64, 720}, 10);
    for (int step = 0; step < grid.steps(); ++step) {
      std::set<std::pair<std::int64_t, std::int64_t>> of_a;
      std::set<std::pair<std::int64_t, std::int64_t>> of_b;
      for (int worker = 0; worker < grid.workers(); ++worker) {
        const std::int64_t panel = grid.panel(worker, step).lower;
        EXPECT_TRUE(of_a.emplace(grid.rows(worker).lower, panel).second) << "step " << step;
        EXPECT_TRUE(of_b.emplace(grid.columns(worker).lower, panel).second) << "step " << step;
      }
    }
  }
}

TEST(CannonGrid, PanelsAreHandedOnFromWhoHadThemAStepBefore) {
  for (const CannonGrid::Shape& shape : shapes) {
    const CannonGrid grid(shape, {12, 12, 100}, 7);
    int handed_on = 0;
    for (int worker = 0; worker < grid.workers(); ++worker) {
      for (int step = 0; step < grid.steps(); ++step) {
        if (const auto before = grid.before(Factor::a, worker, step)) {
          EXPECT_EQ(grid.panel(*before, step - 1), grid.panel(worker, step));
          EXPECT_EQ(grid.rows(*before), grid.rows(worker));
          ++handed_on;
        }
        if (const auto before = grid.before(Factor::b, worker, step)) {
          EXPECT_EQ(grid.panel(*before, step - 1), grid.panel(worker, step));
          EXPECT_EQ(grid.columns(*before), grid.columns(worker));
          ++handed_on;
        }
      }
    }
    if (shape.rows == shape.columns &&
        shape.rows > 1) {  // Cannon's: all but the first step of each round, both factors
      EXPECT_EQ(handed_on, 2 * grid.workers() * (grid.steps() / shape.rows) * (shape.rows - 1));
    }
  }
}

}  // namespace
}  // namespace penstock::gemm

// Pencils cover the field once, whatever the grid, and the automatic grid leaves few ranks idle.
#include <gtest/gtest.h>

#include <vector>

#include "penstock/fft/decomposition.hpp"

namespace penstock::fft {
namespace {

TEST(Decomposition, CoversEveryPointOnceInEachDirectionOfPencils) {
  const Extents size{5, 7, 3};
  for (const Grid grid : {Grid{1, 1}, Grid{1, 4}, Grid{2, 3}, Grid{8, 1}, Grid{3, 5}}) {
    const Decomposition decomposition(size, grid);
    for (int along = 0; along < 3; ++along) {
      std::vector<int> owners(5 * 7 * 3);
      for (int rank = 0; rank < grid.ty * grid.tz; ++rank) {
        const Box box = decomposition.pencil(along, rank);
        EXPECT_EQ(box.extent[static_cast<std::size_t>(along)], size[static_cast<std::size_t>(along)]);
        for (std::int64_t z = 0; z < box.extent[2]; ++z) {
          for (std::int64_t y = 0; y < box.extent[1]; ++y) {
            for (std::int64_t x = 0; x < box.extent[0]; ++x) {
              ++owners[static_cast<std::size_t>(((z + box.lower[2]) * 7 + y + box.lower[1]) * 5 + x + box.lower[0])];
            }
          }
        }
      }
      EXPECT_EQ(owners, std::vector<int>(5 * 7 * 3, 1)) << along << " on " << grid.ty << "x" << grid.tz;
    }
  }
}

// Slide 28 of Nishtala et al.: teams of the first exchange have one plane group, those of the second one row.
TEST(Decomposition, ExchangesOnlyWithinRowsAndColumns) {
  const Decomposition decomposition({12, 12, 12}, {3, 2});
  for (int a = 0; a < 6; ++a) {
    for (int b = 0; b < 6; ++b) {
      EXPECT_EQ(intersect(decomposition.pencil(0, a), decomposition.pencil(1, b)).count() > 0, a / 3 == b / 3);
      EXPECT_EQ(intersect(decomposition.pencil(1, a), decomposition.pencil(2, b)).count() > 0, a % 3 == b % 3);
    }
  }
}

TEST(ChooseGrid, TakesSlabsWhileEveryRankGetsPlanes) {
  EXPECT_EQ(choose_grid({256, 256, 256}, 1), (Grid{1, 1}));
  EXPECT_EQ(choose_grid({256, 256, 256}, 64), (Grid{1, 64}));
  EXPECT_EQ(choose_grid({64, 64, 64}, 128), (Grid{8, 16}));
  EXPECT_EQ(choose_grid({64, 64, 2}, 4), (Grid{2, 2}));
}

TEST(Distribution, SaysWhereAPointLies) {
  const Distribution distribution{{{2, 3, 4}, {5, 6, 7}}, {0, 1, 2}};  // [x][y][z]
  EXPECT_EQ(distribution.position(2, 3, 4), 0);
  EXPECT_EQ(distribution.position(2, 3, 5), 1);
  EXPECT_EQ(distribution.position(2, 4, 4), 7);
  EXPECT_EQ(distribution.position(3, 3, 4), 42);
}

}  // namespace
}  // namespace penstock::fft

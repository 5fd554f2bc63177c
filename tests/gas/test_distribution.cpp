// Distributions deal as one would by hand: blocks to owners in turn, kept in order.
#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "penstock/gas/gas.hpp"
#include "tests/fails_with.hpp"

namespace penstock::gas {
namespace {

TEST(BlockCyclic, DealsBlocksToOwnersInTurn) {
  for (const std::int64_t extent : {0, 1, 2, 5, 16, 37}) {
    for (const std::int64_t block : {1, 2, 3, 5, 16, 40}) {
      for (const int owners : {1, 2, 3, 7, 50}) {
        const BlockCyclic dimension(extent, block, owners);
        std::vector<std::int64_t> dealt(static_cast<std::size_t>(owners), 0);
        int owner = 0;
        std::int64_t left_of_block = block;
        for (std::int64_t index = 0; index < extent; ++index) {
          for (int other = 0; other < owners; ++other) {
            ASSERT_EQ(dimension.count_below(other, index), dealt[static_cast<std::size_t>(other)]);
          }
          std::int64_t& position = dealt[static_cast<std::size_t>(owner)];
          ASSERT_EQ(dimension.place(index).owner, owner);
          ASSERT_EQ(dimension.place(index).position, position);
          ASSERT_EQ(dimension.index(owner, position), index);
          ++position;
          if (--left_of_block == 0) {
            owner = owner + 1 == owners ? 0 : owner + 1;
            left_of_block = block;
          }
        }
        for (int other = 0; other < owners; ++other) {
          ASSERT_EQ(dimension.count(other), dealt[static_cast<std::size_t>(other)]);
          ASSERT_EQ(dimension.count_below(other, extent), dealt[static_cast<std::size_t>(other)]);
        }
      }
    }
  }
}

template <std::size_t N>
Distribution deal(const ArrayShape<N>& shape, int ranks) {
  return Distribution(shape.extents, shape.blocks, shape.grid, ranks);
}

TEST(Distribution, GivesEachElementAPlaceOfItsOwn) {
  for (const int ranks : {1, 2, 6, 7}) {
    const Distribution distribution = deal<3>({.extents = {5, 7, 4}, .blocks = {2, 0, 1}, .grid = {0, 0, 1}}, ranks);
    std::map<std::pair<int, std::int64_t>, int> places;
    for (std::int64_t z = 0; z < 5; ++z) {
      for (std::int64_t y = 0; y < 7; ++y) {
        for (std::int64_t x = 0; x < 4; ++x) {
          const auto [rank, element] = distribution.place(std::array{z, y, x});
          ++places[{rank, element}];
        }
      }
    }
    EXPECT_EQ(places.size(), 5U * 7 * 4);
    std::int64_t counted = 0;
    for (int rank = 0; rank < ranks; ++rank) {
      const auto box = distribution.extents_of(rank);
      for (std::int64_t element = 0; element < box[0] * box[1] * box[2]; ++element) {
        EXPECT_EQ((places[{rank, element}]), 1) << "rank " << rank << ", element " << element;
        ++counted;
      }
    }
    EXPECT_EQ(counted, 5 * 7 * 4);
  }
}

std::vector<int> grid_of(const Distribution& distribution) {
  std::vector<int> grid;
  for (const BlockCyclic& dimension : distribution.dimensions()) {
    grid.push_back(dimension.owners());
  }
  return grid;
}

TEST(Distribution, ChoosesGridsWhoseBoxesAreNearToCubes) {
  using Grid = std::vector<int>;
  EXPECT_EQ(grid_of(deal<1>({.extents = {10}}, 7)), (Grid{7}));
  EXPECT_EQ(grid_of(deal<2>({.extents = {100, 100}}, 4)), (Grid{2, 2}));
  EXPECT_EQ(grid_of(deal<2>({.extents = {1000, 10}}, 4)), (Grid{4, 1}));
  EXPECT_EQ(grid_of(deal<2>({.extents = {10, 1000}}, 6)), (Grid{1, 6}));
  EXPECT_EQ(grid_of(deal<3>({.extents = {64, 64, 64}}, 8)), (Grid{2, 2, 2}));
  EXPECT_EQ(grid_of(deal<3>({.extents = {64, 64, 64}, .grid = {0, 1, 0}}, 8)), (Grid{4, 1, 2}));
  EXPECT_EQ(grid_of(deal<2>({.extents = {64, 64}, .grid = {3, 0}}, 7)), (Grid{3, 2}));  // and rank 6 owns nothing
}

TEST(Distribution, RefusesWhatCannotBe) {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  EXPECT_TRUE(fails_with({"4 x -1 elements", "negative"}, [] { deal<2>({.extents = {4, -1}}, 2); }));
  EXPECT_TRUE(fails_with({"blocks of 0 x -3"}, [] { deal<2>({.extents = {4, 4}, .blocks = {0, -3}}, 2); }));
  EXPECT_TRUE(fails_with({"grid 2 x -1"}, [] { deal<2>({.extents = {4, 4}, .grid = {2, -1}}, 2); }));
  EXPECT_TRUE(fails_with({"grid 2 x 2", "the team has, 3"}, [] { deal<2>({.extents = {4, 4}, .grid = {2, 2}}, 3); }));
  EXPECT_TRUE(fails_with({"address space"}, [&] { deal<1>({.extents = {most}}, 1); }));
  EXPECT_TRUE(fails_with({"address space"}, [&] { deal<2>({.extents = {most / 2, 4}}, 1); }));
  EXPECT_TRUE(fails_with({"address space"}, [&] { deal<2>({.extents = {0, most / 4}}, 8); }));
  EXPECT_EQ(deal<1>({.extents = {5}, .blocks = {most}}, 3).dimensions()[0].count(0), 5);
}

}  // namespace
}  // namespace penstock::gas

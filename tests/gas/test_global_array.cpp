// Global arrays say what is whose, give it in place to who owns it and to peers of the node, and refuse what is not
// there.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <vector>

#include "penstock/base/base.hpp"
#include "tests/fails_with.hpp"
#include "tests/gas/plain_array.hpp"
#include "tests/worlds.hpp"

namespace penstock::gas {
namespace {

// Of a size that is no power of two, and boxes beyond what travels with a header.
TEST(GlobalArray, HoldsElementsOfAnyTypeAndBoxesOfManyBytes) {
  struct Cell {
    float value;
    std::array<std::int32_t, 4> where;
  };
  on_worlds({1, 2, 4}, [](Team& team) {
    constexpr std::int64_t rows = 90;
    constexpr std::int64_t columns = 70;
    for (const std::int64_t block : {0, 1, 13}) {
      GlobalArray<Cell, 2> array(team, {.extents = {rows, columns}, .blocks = {block, block}});
      if (team.rank() == team.size() - 1) {
        std::vector<Cell> whole;
        for (std::int32_t i = 0; i < rows * columns; ++i) {
          whole.push_back({.value = static_cast<float>(i), .where = {i, 2, 3, -i}});
        }
        array.put({{}, {rows, columns}}, whole);
      }
      team.barrier();
      array.for_each_local([&](const Index<2>& index, const Cell& cell) {
        const auto i = static_cast<std::int32_t>(index[0] * columns + index[1]);
        ASSERT_EQ(cell.value, static_cast<float>(i));
        ASSERT_EQ(cell.where, (std::array<std::int32_t, 4>{i, 2, 3, -i}));
      });
      team.barrier();
    }
  });
}

TEST(GlobalArray, TellsWhatEachRankOwnsAsBoxes) {
  on_worlds({1, 2, 5}, [](Team& team) {
    for (const Index<2>& blocks : {Index<2>{0, 0}, Index<2>{1, 3}, Index<2>{4, 0}}) {
      const GlobalArray<int, 2> array(team, {.extents = {11, 13}, .blocks = blocks});
      PlainArray<int, 2> owner({11, 13});
      std::ranges::fill(owner.elements, -1);
      for (int rank = 0; rank < team.size(); ++rank) {
        for (const Box<2>& box : array.boxes(rank)) {
          EXPECT_GT(box.count(), 0);
          walk(box, [&](const Index<2>& index) {
            EXPECT_EQ(owner.at(index), -1);  // of one box alone
            owner.at(index) = rank;
            EXPECT_EQ(array.owner(index), rank);
          });
        }
      }
      EXPECT_EQ(std::ranges::count(owner.elements, -1), 0);
    }
    const GlobalArray<int, 1> block(team, {.extents = {11}});
    EXPECT_LE(block.boxes(team.rank()).size(), 1U);
    const GlobalArray<int, 1> cyclic(team, {.extents = {11}, .blocks = {1}});
    EXPECT_EQ(cyclic.boxes(0).size(), static_cast<std::size_t>((11 + team.size() - 1) / team.size()));
    team.barrier();
  });
}

TEST(GlobalArray, IsSeenInPlaceByPeersOfTheNode) {
  on_worlds({1, 2, 4}, [](Team& team) {
    GlobalArray<double, 2> array(team, {.extents = {6, 10}, .grid = {0, 1}});
    const View<double, 2> mine = array.view();
    EXPECT_EQ(mine.data, array.local().data());
    array.for_each_local([&](const Index<2>& index, double& element) { element = static_cast<double>(index[0]); });
    team.barrier();
    for (int peer = 0; peer < team.size(); ++peer) {
      const View<double, 2> view = array.view_at(peer);
      if (!team.is_local(peer)) {
        EXPECT_EQ(view.data, nullptr);
      } else {
        for (const Box<2>& box : array.boxes(peer)) {
          ASSERT_EQ(view.extents, box.extent);
          EXPECT_EQ(view(box.extent[0] - 1, 9), static_cast<double>(box.lower[0] + box.extent[0] - 1));
          EXPECT_EQ((view[{0, 3}]), static_cast<double>(box.lower[0]));
        }
      }
    }
    team.barrier();
  });
}

TEST(GlobalArray, TellsOfItsShape) {
  on_worlds({6}, [](Team& team) {
    const GlobalArray<char, 3> array(team, {.extents = {10, 20, 7}, .blocks = {3, 0, 100}, .grid = {1, 0, 1}});
    EXPECT_EQ(array.extents(), (Index<3>{10, 20, 7}));
    EXPECT_EQ(array.grid(), (Index<3>{1, team.size(), 1}));
    EXPECT_EQ(array.blocks(), (Index<3>{3, (20 + team.size() - 1) / team.size(), 7}));
    team.barrier();
  });
}

TEST(GlobalArray, SignalsOfItsSegmentTellOfPuts) {
  on_worlds({1, 3}, [](Team& team) {
    GlobalArray<int, 1> array(team, {.extents = {team.size()}}, 1);
    const int next = (team.rank() + 1) % team.size();
    const int value = team.rank() + 10;
    array.segment().put_signal(array.pointer({next}), {&value, 1}, 0);
    array.segment().wait(0, 1);
    EXPECT_EQ(array.local()[0], (team.rank() + team.size() - 1) % team.size() + 10);
    team.barrier();
  });
}

TEST(GlobalArray, RefusesWhatLiesOutside) {
  on_worlds({1, 2}, [](Team& team) {
    GlobalArray<int, 2> array(team, {.extents = {4, 5}});
    for (const Index<2>& index : {Index<2>{4, 0}, Index<2>{0, 5}, Index<2>{-1, 0}, Index<2>{0, -1}}) {
      const std::string text = "(" + std::to_string(index[0]) + ", " + std::to_string(index[1]) + ")";
      EXPECT_TRUE(fails_with({text, "4 x 5"}, [&] { array.put(index, 1); }));
      EXPECT_TRUE(fails_with({text, "4 x 5"}, [&] { array.get(index); }));
      EXPECT_TRUE(fails_with({text, "4 x 5"}, [&] { array.fetch_add(index, 1); }));
      EXPECT_TRUE(fails_with({text, "4 x 5"}, [&] { array.compare_swap(index, 0, 1); }));
      EXPECT_TRUE(fails_with({text, "4 x 5"}, [&] { array.owner(index); }));
    }
    std::vector<int> data(20, 1);
    const auto refuses = [&](const Box<2>& box, std::initializer_list<std::string_view> parts) {
      EXPECT_TRUE(fails_with(parts, [&] { static_cast<void>(array.start_put(box, data.data(), {5, 1})); }));
      EXPECT_TRUE(fails_with(parts, [&] { static_cast<void>(array.start_get(box, data.data(), {5, 1})); }));
    };
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
    refuses({{0, 0}, {4, 6}}, {"4 x 6", "(0, 0)", "4 x 5"});
    refuses({{1, 0}, {4, 1}}, {"4 x 1", "(1, 0)"});
    refuses({{-1, 0}, {1, 1}}, {"(-1, 0)"});
    refuses({{0, 0}, {-1, 1}}, {"-1 x 1"});
    refuses({{1, 1}, {most, most}}, {"(1, 1)"});
    refuses({{5, 0}, {0, 0}}, {"(5, 0)"});
    EXPECT_TRUE(fails_with({"2 x 3 elements", "5 elements"}, [&] {
      array.put({{0, 0}, {2, 3}}, std::span(data).first(5));
    }));
    EXPECT_TRUE(fails_with({"-2 x -3 elements"}, [&] { array.get({{0, 0}, {-2, -3}}, std::span(data).first(6)); }));
    EXPECT_TRUE(fails_with({"address space"}, [&] {
      static_cast<void>(array.start_put({{0, 0}, {2, 3}}, data.data(), {most / 2, 1}));
    }));
    team.barrier();
    EXPECT_EQ(std::ranges::count(array.local(), 0), std::ssize(array.local()));
    team.barrier();
  });
}

// One rank's mistake is everyone's.
TEST(GlobalArray, RefusesShapesThatCannotBeOnEveryRank) {
  on_worlds({1, 2, 3}, [](Team& team) {
    using Array = GlobalArray<double, 1>;
    EXPECT_TRUE(fails_with({"negative"}, [&] { Array(team, {.extents = {-1}}); }));
    EXPECT_TRUE(fails_with({"the team has"}, [&] { Array(team, {.extents = {9}, .grid = {team.size() + 1}}); }));
    EXPECT_THROW(Array(team, {.extents = {std::int64_t{1} << 58}}), Error);
    if (team.size() > 1) {
      EXPECT_TRUE(fails_with({"differ in their global array", "10 elements in blocks", "11 elements"},
                             [&] { Array(team, {.extents = {team.rank() == 0 ? 10 : 11}}); }));
      EXPECT_TRUE(fails_with({"differ in their global array"},
                             [&] { Array(team, {.extents = {team.rank() == 0 ? 10 : -10}}); }));
    }
    team.barrier();
  });
}

}  // namespace
}  // namespace penstock::gas

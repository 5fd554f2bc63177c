// Each constructor names the bytes that it says, and refuses what cannot be with a sentence.
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/layout/layout.hpp"
#include "tests/layout/bytes_of.hpp"

namespace penstock::layout {
namespace {

template <class Construct>
std::string refusal(Construct construct) {
  try {
    construct();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Layout, OfNothingIsEmptyHoweverItIsMade) {
  const Layout empty;
  EXPECT_EQ(Layout::contiguous(0), empty);
  EXPECT_EQ(Layout::strided(0, 8, Layout::contiguous(4)), empty);
  EXPECT_EQ(Layout::strided(5, 8, empty).displaced(3), empty);
  EXPECT_EQ(Layout::nest(7, {{{3, 8}, {0, 4}}}, 4), empty);
  EXPECT_EQ(Layout::subarray({{4, 0}}, {{1, 0}}, {{2, 0}}, 8), empty);
  EXPECT_EQ(Layout::indexed({{{3, 0}, {9, 0}}}), empty);
  EXPECT_EQ(Layout::indexed(Offsets{1, 2, 3}, empty), empty);
  EXPECT_EQ(empty.bytes(), 0);
  EXPECT_EQ(empty.lower_bound(), 0);
  EXPECT_EQ(empty.upper_bound(), 0);
  EXPECT_TRUE(empty.is_contiguous());
  EXPECT_TRUE(RunWalk(empty).is_done());
}

TEST(Layout, OfABoxNamesItsElementsInCOrder) {
  const Layout box = Layout::subarray({{4, 5}}, {{1, 2}}, {{2, 3}}, 2);
  EXPECT_EQ(bytes_of(box), (Offsets{14, 15, 16, 17, 18, 19, 24, 25, 26, 27, 28, 29}));
  EXPECT_EQ(box, Layout::nest(14, {{{2, 10}}}, 6));
  EXPECT_EQ(box.lower_bound(), 14);
  EXPECT_EQ(box.upper_bound(), 30);
}

TEST(Layout, OfWholeRowsIsOneRun) {
  const Layout rows = Layout::subarray({{4, 5, 6}}, {{1, 0, 0}}, {{2, 5, 6}}, 8);
  EXPECT_TRUE(rows.is_contiguous());
  EXPECT_EQ(rows, Layout::contiguous(480).displaced(240));
}

TEST(Layout, WithNegativeStridesCountsItsBoundsBothWays) {
  const Layout layout = Layout::nest(10, {{{3, -4}, {2, 100}}}, 2);
  EXPECT_EQ(layout.lower_bound(), 2);
  EXPECT_EQ(layout.upper_bound(), 112);
  EXPECT_EQ(layout.bytes(), 12);
}

TEST(Layout, OfRegularOffsetsIsALoopAroundThePartsLoops) {
  const Layout part = Layout::nest(0, {{{1000, 32}}}, 8);
  Offsets offsets;
  for (std::int64_t i = 0; i < 500; ++i) {
    offsets.push_back(i * 100000);
  }
  const Layout layout = Layout::indexed(offsets, part);
  EXPECT_EQ(layout, Layout::strided(500, 100000, part));
  EXPECT_EQ(layout.runs().size(), 1U);
}

TEST(Layout, HashesEqualWhereItIsEqual) {
  const Layout one = Layout::indexed({{{0, 4}, {8, 4}, {16, 4}}});
  EXPECT_EQ(one.hash(), Layout::nest(0, {{{3, 8}}}, 4).hash());
  EXPECT_NE(one.hash(), Layout::nest(0, {{{3, 9}}}, 4).hash());
  EXPECT_NE(one.hash(), one.displaced(1).hash());
}

TEST(Layout, RefusesNegativeCountsAndNamesThem) {
  const Layout part = Layout::contiguous(4);
  EXPECT_NE(refusal([] { Layout::contiguous(-3); }).find("-3"), std::string::npos);
  EXPECT_NE(refusal([&] { Layout::strided(-4, 8, part); }).find("-4"), std::string::npos);
  EXPECT_NE(refusal([] { Layout::nest(0, {{{0, 4}, {-5, 4}}}, 4); }).find("-5"), std::string::npos);
  EXPECT_NE(refusal([] { Layout::nest(0, {}, -6); }).find("-6"), std::string::npos);
  EXPECT_NE(refusal([] { Layout::indexed({{{0, -7}}}); }).find("-7"), std::string::npos);
  EXPECT_NE(refusal([] { Layout::subarray({{-8}}, {{0}}, {{0}}, 4); }).find("-8"), std::string::npos);
}

TEST(Layout, RefusesABoxOutsideItsArray) {
  EXPECT_NE(refusal([] { Layout::subarray({{10}}, {{4}}, {{7}}, 8); }).find("outside"), std::string::npos);
  EXPECT_NE(refusal([] { Layout::subarray({{10}}, {{11}}, {{0}}, 8); }).find("outside"), std::string::npos);
  EXPECT_NE(refusal([] { Layout::subarray({{10, 2}}, {{4}}, {{2}}, 8); }).find("per dimension"), std::string::npos);
}

TEST(Layout, RefusesWhatDoesNotFitIn63Bits) {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
  const Layout part = Layout::contiguous(16);
  EXPECT_THROW(Layout::contiguous(most), Error);
  EXPECT_THROW(Layout::strided(most, 16, part), Error);
  EXPECT_THROW(Layout::strided(2, most, part), Error);
  EXPECT_THROW(Layout::strided(3, least, part), Error);
  EXPECT_THROW(Layout::strided(most / 8, 0, part), Error);
  EXPECT_THROW(part.displaced(most), Error);
  EXPECT_THROW(part.displaced(least), Error);
  EXPECT_THROW(Layout::nest(most - 3, {{{2, 8}}}, 4), Error);
  EXPECT_THROW(Layout::subarray({{most, most}}, {{1, 0}}, {{1, 1}}, 8), Error);
  EXPECT_THROW(Layout::indexed({{{most - 1, 4}}}), Error);
  EXPECT_THROW(Layout::indexed(Offsets{0, most}, part), Error);
}

TEST(Layout, OfIrregularCopiesOfLoopsKeepsTheLoopsAsParts) {
  const Layout part = Layout::nest(0, {{{Layout::max_runs / 2, 4}}}, 2);
  const Layout layout = Layout::indexed(Offsets{0, 1, 7}, part);
  EXPECT_EQ(layout.bytes(), 3 * part.bytes());
  ASSERT_EQ(layout.parts().size(), 3U);
  EXPECT_EQ(layout.parts()[2], part.displaced(7));
}

TEST(Layout, RefusesAnIrregularListWithoutEnd) {
  Offsets offsets;
  std::vector<layout::Run> runs;
  for (std::int64_t i = 0; i < 10000; ++i) {
    offsets.push_back(i * i);
    runs.push_back({i * i, 1});
  }
  const Layout list = Layout::indexed(runs);
  EXPECT_NE(refusal([&] { Layout::indexed(offsets, list); }).find("move it in parts"), std::string::npos);
}

TEST(Layout, ComesBackFromItsBytes) {
  const Layout nest = Layout::nest(5, {{{3, 100}, {4, -20}}}, 8);
  const Layout list = Layout::indexed({{{0, 3}, {17, 2}, {4, 1}}});
  const Layout parts = Layout::sequence({Layout::nest(0, {{{100, 16}}}, 8), Layout::nest(7000, {{{90, 24}}}, 4)});
  ASSERT_FALSE(parts.parts().empty());
  for (const Layout& layout : {Layout(), Layout::contiguous(9), nest, list, parts, Layout::strided(7, 20000, parts)}) {
    const std::vector<std::byte> bytes = to_bytes(layout);
    EXPECT_EQ(layout_from(bytes), layout);
    EXPECT_THROW(layout_from(std::span(bytes).first(bytes.size() - 1)), Error);
  }
  std::vector<std::byte> longer = to_bytes(nest);
  longer.push_back(std::byte{0});
  EXPECT_THROW(layout_from(longer), Error);
}

}  // namespace
}  // namespace penstock::layout

// The cases of packing, the places that no cache holds, and the means, without a clock.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "penstock/lab/pack/pack.hpp"
#include "penstock/lab/pack/pack_cases.hpp"
#include "penstock/lab/pack/pack_memory.hpp"

namespace penstock::lab {
namespace {

using layout::Layout;
using layout::Level;

TEST(PackCases, HaveNamesOfTheirOwnAndLoopsWithinTheirArrays) {
  std::set<std::string> names;
  for (const PackCase& each : pack_cases()) {
    EXPECT_TRUE(names.insert(each.name).second) << each.name;
    std::int64_t packed = 0;
    for (const HandLoop& loop : each.hand) {
      EXPECT_EQ(loop.packed_offset, packed) << each.name;
      EXPECT_LT(loop.array_offset, each.array_bytes) << each.name;
      packed += packed_bytes(loop);
    }
    EXPECT_GT(packed, 0) << each.name;
  }
  EXPECT_EQ(names.size(), 71);
}

/// The lines that uses at these places touch, with repetitions.
std::vector<std::int64_t> lines_of(const Layout& touched, const std::vector<std::int64_t>& places) {
  std::vector<std::int64_t> lines;
  for (const std::int64_t place : places) {
    for (layout::RunWalk walk(touched); !walk.is_done(); walk.next()) {
      lines.push_back((place + walk.run().offset) / 64);
    }
  }
  return lines;
}

TEST(ColdPlaces, AreTheSlotsOfTheArenaWhereTheseAreEnough) {
  const auto places = cold_places(Layout::contiguous(8192), 8192, std::int64_t{512} << 20);
  ASSERT_EQ(places.size(), 65536);
  EXPECT_EQ(places.front(), 0);
  EXPECT_EQ(places.back(), 65535 * 8192);
}

TEST(ColdPlaces, OfSparseArraysAreDisplacedToUntouchedLines) {
  // A line of each 4 KiB, in an array of which the arena holds eight.
  const Layout touched = Layout::nest(0, std::array{Level{256, 4096}}, 8);
  const std::int64_t arena_bytes = std::int64_t{8} << 20;
  const auto places = cold_places(touched, 1 << 20, arena_bytes);
  EXPECT_GT(places.size(), 8);
  std::vector<std::int64_t> lines = lines_of(touched, places);
  EXPECT_LT(*std::max_element(lines.begin(), lines.end()), arena_bytes / 64);
  std::sort(lines.begin(), lines.end());
  const auto distinct = std::unique(lines.begin(), lines.end()) - lines.begin();
  EXPECT_GE(distinct * 10, static_cast<std::ptrdiff_t>(lines.size()) * 9);
}

TEST(ColdPlaces, OfAnArrayThatFillsTheArenaIsOne) {
  EXPECT_EQ(cold_places(Layout::contiguous(1 << 20), 1 << 20, 1 << 20), std::vector<std::int64_t>{0});
}

PackResult result_of(PackGroup group, double ours_s, double mpi_s) {
  PackResult result{.name = "x", .group = group, .regime = PackRegime::hot, .operation = PackOperation::pack};
  result.bytes = 2048;
  result.ours.min_s = ours_s;
  result.mpi.min_s = mpi_s;
  result.hand.min_s = 1;
  result.copy.min_s = 1;
  result.costs.compile_s = 6;
  return result;
}

TEST(PackMeans, AreGeometricAndCountTheUsesUntilEven) {
  const std::vector results{result_of(PackGroup::strided, 1, 2), result_of(PackGroup::indexed, 1, 8),
                            result_of(PackGroup::indexed, 1, 0.5)};
  const auto means = pack_means(results);
  ASSERT_EQ(means.size(), 3);
  EXPECT_EQ(means[0].group, "all");
  EXPECT_DOUBLE_EQ(means[0].against_mpi, 2);
  EXPECT_EQ(means[0].break_even_median_uses, 6);
  EXPECT_EQ(means[0].break_even_worst_uses, 6);
  EXPECT_EQ(means[0].never_even, 1);
  EXPECT_EQ(means[2].group, "indexed");
  EXPECT_DOUBLE_EQ(means[2].against_mpi, 2);
  EXPECT_EQ(means[2].break_even_median_uses, std::nullopt);
  EXPECT_DOUBLE_EQ(results[2].ratio_to_best(), 0.5);
}

}  // namespace
}  // namespace penstock::lab

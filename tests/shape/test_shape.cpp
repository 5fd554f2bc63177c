#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "penstock/shape/shape.hpp"

namespace penstock::shape {
namespace {

TEST(Parts, AreNearlyEqualAndFollowOneAnother) {
  for (const std::int64_t n : {0, 1, 7, 12, 1000}) {
    for (const int parts : {1, 2, 3, 7, 12}) {
      SCOPED_TRACE(std::to_string(n) + " in " + std::to_string(parts));
      std::int64_t end = 0;
      std::int64_t before = std::numeric_limits<std::int64_t>::max();
      for (int index = 0; index < parts; ++index) {
        const Range part = part_of(n, parts, index);
        EXPECT_EQ(part.lower, end);
        EXPECT_LE(part.extent, before);
        EXPECT_GE(part.extent, n / parts);
        EXPECT_LE(part.extent, n / parts + 1);
        end = part.end();
        before = part.extent;
      }
      EXPECT_EQ(end, n);
    }
  }
}

TEST(Boxes, HaveInCommonWhatLiesInBoth) {
  EXPECT_EQ(intersect(Range{2, 5}, Range{4, 9}), (Range{4, 3}));
  EXPECT_EQ(intersect(Range{2, 5}, Range{7, 9}).extent, 0);
  EXPECT_EQ(intersect(Range{2, 5}, Range{20, 9}).extent, 0);
  EXPECT_EQ(intersect(Box{{0, 0, 0}, {4, 5, 6}}, Box{{1, 2, 3}, {10, 1, 2}}), (Box{{1, 2, 3}, {3, 1, 2}}));
  EXPECT_EQ(intersect(Box{{0, 0, 0}, {4, 5, 6}}, Box{{4, 0, 0}, {4, 5, 6}}).count(), 0);
  EXPECT_EQ((BoxOf<2>{{7, 8}, {3, 4}}.count()), 12);
}

TEST(Tuning, GoesThroughTextAndRefusesAnythingElse) {
  const Tuning tuning{.grid = {2, 30}, .planes_per_message = 400, .deferred_parts = 7};
  EXPECT_EQ(to_text(tuning), "2x30 planes_per_message 400 deferred_parts 7");
  EXPECT_EQ(tuning_from(to_text(tuning)), tuning);
  for (const char* const bad :
       {"", "2x30", "2x30 planes_per_message 400", "0x30 planes_per_message 400 deferred_parts 7",
        "2x30 planes_per_message -1 deferred_parts 7", "2x30 planes_per_message 400 deferred_parts 8",
        "2x30 planes_per_message 400 deferred_parts 7 ",
        "2x30 planes_per_message 99999999999999999999 deferred_parts 7",
        "axb planes_per_message 400 deferred_parts 7"}) {
    EXPECT_EQ(tuning_from(bad), std::nullopt) << bad;
  }
}

TEST(TileRows, AreAChunkWideWhereTwiceTheSecondLevelCacheHoldsThem) {
  constexpr std::int64_t cache_l2_bytes = 512 << 10;
  const auto rows_of = [](std::int64_t points) { return tile_rows(2 * tile_pitch(points * 16), cache_l2_bytes, 16); };
  EXPECT_EQ(rows_of(1), 32);
  EXPECT_EQ(rows_of(512), 32);
  EXPECT_EQ(rows_of(1024), 28);    // 32 with their pitches are a little more than 1 MiB
  EXPECT_EQ(rows_of(1 << 20), 4);  // not one fits
}

TEST(TilePitch, IsWholeLinesAndOneMore) {
  EXPECT_EQ(tile_pitch(64), 128);
  EXPECT_EQ(tile_pitch(65), 192);
}

}  // namespace
}  // namespace penstock::shape

// What calibration measures is positive, ordered as it says, and possible.
#include <gtest/gtest.h>

#include <set>

#include "penstock/probe/probe.hpp"
#include "tests/fails_with.hpp"
#include "tests/temporary_folder.hpp"
#include "tests/worlds.hpp"

namespace penstock::probe {
namespace {

/// The least that gives a figure.
constexpr CalibrationOptions brief{.threads = 2, .samples = 2, .sample_s = 1e-6};

void expect_possible(const Figure& figure, double least, double most) {
  EXPECT_GT(figure.best, least);
  EXPECT_LT(figure.best, most);
  EXPECT_GE(figure.spread(), 0);
  EXPECT_GE(figure.samples, brief.samples);
}

machine::Node small_node() {
  machine::Node node = machine::built_in().node;
  node.cores = 2;
  node.cache_bytes = 1 << 20;
  node.cache_l2_bytes = 1 << 18;
  return node;
}

TEST(Figure, KnowsBestMedianAndSpread) {
  const Figure time = time_of({3e-3, 1e-3, 2e-3});
  EXPECT_EQ(time.best, 1e-3);
  EXPECT_EQ(time.median, 2e-3);
  EXPECT_DOUBLE_EQ(time.spread(), 1);
  const Figure rate = rate_of(6, {3, 1, 2});
  EXPECT_EQ(rate.best, 6);
  EXPECT_EQ(rate.median, 3);
  EXPECT_DOUBLE_EQ(rate.spread(), 0.5);
  EXPECT_EQ(rounded(123456), 123500);
}

TEST(Calibration, OfMemoryAndCaches) {
  const auto streams = measure_streams(1 << 20, {.threads = 3, .samples = 2, .sample_s = 1e-6});
  ASSERT_EQ(streams.size(), 3U);
  EXPECT_EQ(streams[0].threads, 1);
  EXPECT_EQ(streams[1].threads, 2);
  EXPECT_EQ(streams[2].threads, 3);
  for (const StreamRates& each : streams) {
    expect_possible(each.copy_bytes_per_s, 1e6, 1e15);
    expect_possible(each.triad_bytes_per_s, 1e6, 1e15);
  }
  const auto caches = measure_caches({{1, 32768, 0}, {2, 1 << 20, 0}}, brief);
  ASSERT_EQ(caches.size(), 2U);
  expect_possible(caches[0], 1e6, 1e15);
}

TEST(Calibration, OfCoresAndTheirLines) {
  expect_possible(measure_thread_start(brief), 0, 1);
  const auto lines = measure_lines(brief);
  ASSERT_TRUE(lines);
  expect_possible(lines->transfer_s, 0, 1);
  expect_possible(lines->shared_add_s, 0, 1);
  expect_possible(lines->separate_add_s, 0, 1);
  EXPECT_FALSE(measure_lines({.threads = 1, .samples = 2, .sample_s = 1e-6}));
}

TEST(Calibration, OfTilesRisesThroughWorkingSets) {
  const auto tiles = measure_tile_copies(small_node(), brief);
  std::set<std::pair<std::int64_t, std::int64_t>> seen;
  for (const TileRates& each : tiles) {
    expect_possible(each.bytes_per_s, 1e6, 1e15);
    EXPECT_TRUE(seen.insert({each.threads, each.working_set_bytes}).second);
  }
  EXPECT_GE(seen.size(), 4U);
  EXPECT_TRUE(seen.contains({1, 2 * 32 * 32 * 32 * 16}));
  EXPECT_TRUE(seen.contains({2, 2 * 32 * 32 * 32 * 16}));
}

TEST(Calibration, OfMultiplyAdds) {
  expect_possible(measure_peak(brief), 1e6, 1e15);
}

TEST(Calibration, OfTheDiskLeavesNothingBehind) {
  const TemporaryFolder folder;
  const auto engine = percolate::make_engine();
  const DiskRates disk = measure_disk(folder / "", *engine, brief);
  expect_possible(disk.write_bytes_per_s, 1e3, 1e15);
  expect_possible(disk.read_bytes_per_s, 1e3, 1e15);
  expect_possible(disk.latency_s, 0, 10);
  EXPECT_GT(disk.capacity_bytes, 1 << 20);
  EXPECT_TRUE(std::filesystem::is_empty(folder / ""));
  EXPECT_TRUE(fails_with({"no such"}, [&] { measure_disk(folder / "no such", *engine, brief); }));
}

TEST(MessageCosts, GrowWithLengthAndHaveAShareOfProgress) {
  gas::on_worlds({1, 2, 3}, [](gas::Team& team) {
    if (team.size() == 1) {
      EXPECT_TRUE(fails_with({"--ranks 2"}, [&] { measure_message_costs(team, brief); }));
      return;
    }
    const TransportCosts figures = measure_message_costs(team, {.threads = 1, .samples = 3});
    if (team.rank() == 0) {
      ASSERT_GE(figures.times.size(), 2U);
      EXPECT_LT(figures.times.front().time_s.best, figures.times.back().time_s.best);
      EXPECT_GT(figures.send_overhead_s.best, 0);
      EXPECT_GE(figures.gap_s.best, 0);
      EXPECT_GE(figures.progress, 0);
      EXPECT_LE(figures.progress, 1);
    }
  });
}

}  // namespace
}  // namespace penstock::probe

// How products are cut for a device: what passes over the bus, by walking all steps with the slots that there are.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <list>
#include <random>
#include <vector>

#include "penstock/gemm/device_tiling.hpp"
#include "tests/fails_with.hpp"

namespace penstock::gemm {
namespace {

/// Rounded.
constexpr DeviceRates h100{
    .flops = 6e13,
    .call_s = 1e-5,
    .copies = {.memory_bandwidth_bytes_per_s = 3e12, .to_device_bytes_per_s = 5e10, .to_host_bytes_per_s = 5e10}};

DeviceProblem problem_of(std::int64_t m, std::int64_t n, std::int64_t k, std::uint64_t memory_bytes) {
  return {.m = m,
          .n = n,
          .k = k,
          .compute_units = 132,
          .block_bytes = std::uint64_t{1} << 40,
          .memory_bytes = memory_bytes};
}

/// The panels that are copied where the least recently used makes room.
std::int64_t copies(const DeviceWalk& walk, std::int64_t slots, bool are_of_a) {
  std::list<std::int64_t> held;  // the last used first
  std::int64_t copied = 0;
  for (std::int64_t i = 0; i < walk.steps(); ++i) {
    const DeviceStep step = walk.step(i);
    const std::int64_t panel = (are_of_a ? step.row : step.column) * walk.layers() + step.layer;
    copied += std::ranges::count(held, panel) == 0 ? 1 : 0;
    held.remove(panel);
    held.push_front(panel);
    held.resize(std::min<std::size_t>(held.size(), static_cast<std::size_t>(slots)));
  }
  return copied;
}

TEST(DeviceTiling, EachTileGetsEachPanelOnce) {
  const DeviceProblem problem = problem_of(96, 160, 224, 0);
  for (const bool goes_by_columns : {false, true}) {
    const DeviceWalk walk(problem, {.tile_m = 32, .tile_n = 32, .depth = 32, .goes_by_columns = goes_by_columns});
    ASSERT_EQ(walk.steps(), 3 * 5 * 7);
    std::vector<int> seen(static_cast<std::size_t>(walk.steps()));
    for (std::int64_t i = 0; i < walk.steps(); ++i) {
      const DeviceStep step = walk.step(i);
      EXPECT_EQ(step.tile, i / 7);
      EXPECT_EQ(step.number, i % 7);
      ++seen[static_cast<std::size_t>((step.row * 5 + step.column) * 7 + step.layer)];
    }
    EXPECT_TRUE(std::ranges::all_of(seen, [](int times) { return times == 1; }));
  }
}

TEST(DeviceTiling, TheForecastCountsWhatAWalkCopies) {
  std::mt19937 random(1);
  for (int i = 0; i < 200; ++i) {
    const auto pieces = [&] { return 1 + static_cast<std::int64_t>(random() % 6); };
    const std::int64_t rows = pieces();
    const std::int64_t columns = pieces();
    const std::int64_t layers = pieces();
    const DeviceProblem problem = problem_of(64 * rows, 96 * columns, 32 * layers, 0);
    const DeviceTiling tiling{.tile_m = 64,
                              .tile_n = 96,
                              .depth = 32,
                              .slots_a = std::min(rows * layers, 1 + pieces()),
                              .slots_b = std::min(columns * layers, 1 + pieces()),
                              .slots_c = 2,
                              .goes_by_columns = random() % 2 == 0};
    const DeviceWalk walk(problem, tiling);
    const std::int64_t elements =
        copies(walk, tiling.slots_a, true) * 64 * 32 + copies(walk, tiling.slots_b, false) * 96 * 32;
    EXPECT_NEAR(static_cast<double>(forecast(problem, tiling, h100).to_device_bytes), static_cast<double>(elements) * 8,
                8)
        << rows << " x " << columns << " x " << layers << ", " << tiling.slots_a << " and " << tiling.slots_b
        << " slots, " << tiling.goes_by_columns;
  }
}

TEST(DeviceTiling, WhatFitsCrossesOnceAndOverlaps) {
  const DeviceMultiplyPlan plan = choose_device_tiling(problem_of(40000, 40000, 40000, std::uint64_t{76} << 30), h100);
  EXPECT_EQ(plan.to_device_bytes, 2ULL * 40000 * 40000 * 8);
  EXPECT_GT(plan.tiles, 1);  // so that most of C leaves meanwhile
  EXPECT_GT(plan.limit_s() / plan.predicted_s, 0.9);
}

TEST(DeviceTiling, LargerThanTheDeviceIsStillBoundByItsArithmetic) {
  const DeviceMultiplyPlan plan = choose_device_tiling(problem_of(70000, 70000, 70000, std::uint64_t{16} << 30), h100);
  EXPECT_LE(plan.device_bytes, plan.memory_bytes);
  EXPECT_EQ(plan.limit_s(), plan.multiply_s);
  EXPECT_GT(plan.limit_s() / plan.predicted_s, 0.9);
}

TEST(DeviceTiling, ASlowBusGetsTheFewestBytes) {
  DeviceRates slow = h100;
  slow.copies.to_device_bytes_per_s = slow.copies.to_host_bytes_per_s = 1e8;
  const DeviceProblem problem = problem_of(20000, 20000, 20000, std::uint64_t{1} << 30);
  const DeviceMultiplyPlan plan = choose_device_tiling(problem, slow);
  // A tile that took all of the memory would bring 2 mnk / sqrt(memory) elements.
  const double bound = 2 * std::pow(20000.0, 3) / std::sqrt(std::pow(2.0, 30) / 8) * 8;
  EXPECT_LT(static_cast<double>(plan.to_device_bytes), 1.6 * bound);
  EXPECT_GT(plan.bus_s, plan.multiply_s);
}

TEST(DeviceTiling, ABlockIsNoLargerThanTheDeviceAllows) {
  DeviceProblem problem = problem_of(4096, 4096, 4096, std::uint64_t{1} << 30);
  problem.block_bytes = 1 << 20;
  const DeviceTiling tiling = choose_device_tiling(problem, h100).tiling;
  EXPECT_LE(padded(tiling.tile_m) * padded(tiling.tile_n) * 8, 1 << 20);
  EXPECT_LE(padded(tiling.tile_m) * padded(tiling.depth) * 8, 1 << 20);
  EXPECT_LE(padded(tiling.depth) * padded(tiling.tile_n) * 8, 1 << 20);
}

TEST(DeviceTiling, TheMemoryThatIsAskedForIsEnough) {
  DeviceProblem problem = problem_of(1000, 1000, 1000, 6 * 32 * 32 * 8);
  EXPECT_EQ(choose_device_tiling(problem, h100).tiling.tile_m, 32);
  problem.memory_bytes -= 1;
  EXPECT_TRUE(fails_with({"are too little for tiles", "48.0 KiB"}, [&] { choose_device_tiling(problem, h100); }));
  problem.copies_matrices = true;
  EXPECT_TRUE(fails_with({"72.0 KiB"}, [&] { choose_device_tiling(problem, h100); }));
}

}  // namespace
}  // namespace penstock::gemm

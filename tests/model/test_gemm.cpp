// Matrix multiplies: the HTMT paper's figures, and the limits of panels that shift and of tiles that percolate.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <vector>

#include "penstock/model/model.hpp"
#include "tests/fails_with.hpp"

namespace penstock::model {
namespace {

TEST(Htmt, HasTheValuesOfItsPaper) {
  const Htmt htmt;
  const HtmtTimes times = htmt_times(htmt);
  EXPECT_EQ(htmt.edge(), 208000);
  EXPECT_NEAR(times.transformation_s, 1.332, 0.0005);
  EXPECT_NEAR(times.multiply_s, 11.72e-6, 0.005e-6);
  EXPECT_NEAR(times.sram_to_cram_s, 6.56e-6, 0.005e-6);
  EXPECT_NEAR(times.dram_to_sram_s, 10.25e-3, 0.005e-3);
  EXPECT_NEAR(times.shift_s, 0.94e-6, 0.005e-6);
  EXPECT_NEAR(htmt.peak_flops() / 1e15, 1.365, 0.0005);
  EXPECT_NEAR(htmt_equation_5_s(htmt), 17.43, 0.005);
  EXPECT_NEAR(htmt.flops() / htmt_equation_5_s(htmt) / 1e15, 1.03, 0.005);
  EXPECT_NEAR(htmt_equation_6_s(htmt), 15.94, 0.005);
  EXPECT_NEAR(htmt.flops() / htmt_equation_6_s(htmt) / 1e15, 1.13, 0.005);
  EXPECT_NEAR(htmt_printed_rate_s(htmt), 17.22, 0.005);
  EXPECT_NEAR(htmt_headline_s(htmt), 16.17, 0.005);
  EXPECT_NEAR(htmt.flops() / htmt_headline_s(htmt) / 1e15, 1.11, 0.005);
  EXPECT_EQ(htmt_largest_sub_block(108032), 124);
}

TEST(Htmt, HasTheCurvesOfFigure7) {
  const std::vector<double> cycles_ps{5, 10, 15, 20, 30, 60};
  const std::vector<double> one{2.14, 1.40, 1.05, 0.83, 0.59, 0.32};
  const std::vector<double> ten{4.07, 2.04, 1.36, 1.02, 0.68, 0.34};
  for (std::size_t i = 0; i < cycles_ps.size(); ++i) {
    Htmt htmt{.fpu_cycle_s = cycles_ps[i] * 1e-12};
    EXPECT_NEAR(htmt.flops() / htmt_printed_rate_s(htmt) / 1e15, one[i], 0.006);
    htmt.q = 10;
    EXPECT_NEAR(htmt.flops() / htmt_printed_rate_s(htmt) / 1e15, ten[i], 0.006);
  }
}

TEST(Htmt, IsAtItsPeakWhereMemoryTakesNoTime) {
  const Htmt htmt{.dram_word_s = 0, .sram_word_s = 0};
  EXPECT_NEAR(htmt.flops() / htmt_equation_5_s(htmt) / htmt.peak_flops(), 1, 1e-12);
  const Htmt slow_network{.dram_word_s = 0, .sram_word_s = 0, .cnet_words_per_s = 1e6};
  EXPECT_GT(htmt_equation_4_s(slow_network), htmt_equation_4_s(htmt)) << "shifts that take longer than multiplies";
  EXPECT_LT(htmt_equation_4_s({}), htmt_equation_5_s({})) << "where t stands for t^2";
}

/// A square product on 16 nodes with a link of 1 GB/s each and processors that need no time to speak of for messages.
ShiftedTime shifted_on_16(double flops, std::int64_t layers, std::int64_t rows, std::int64_t columns,
                          double depth = 512) {
  machine::Machine machine = machine::find("jean-zay");
  machine.network = machine::Network{.link_bandwidth_bytes_per_s = 1e9};
  machine.transports = {
      {.name = "free", .pieces = {{.from_bytes = 0, .latency_s = 1e-12, .bandwidth_bytes_per_s = 1e9}}}};
  return shifted_time(machine, {.m = 8192,
                                .n = 8192,
                                .k = 8192,
                                .flops = flops,
                                .rate_flops = 1e12,
                                .layers = layers,
                                .rows = rows,
                                .columns = columns,
                                .depth = depth});
}

TEST(Shifted, MovesWhatTheGridMakesItMove) {
  // 3/4 of a row of blocks of A and of a column of B.
  EXPECT_DOUBLE_EQ(shifted_on_16(1e12, 1, 4, 4).received_bytes, 2 * 0.75 * 8192 * 8192 / 4 * 8);
  // All of B, and of A nothing.
  EXPECT_DOUBLE_EQ(shifted_on_16(1e12, 1, 16, 1).received_bytes, 15.0 / 16 * 8192 * 8192 * 8);
  // With k in four parts, each layer of 2 x 2 wants a half of a quarter of each, of which it has next to nothing.
  const ShiftedTime layered = shifted_on_16(1e12, 4, 2, 2);
  EXPECT_DOUBLE_EQ(layered.received_bytes, 2 * 15.0 / 16 * 8192 * 8192 / 8 * 8);
  EXPECT_DOUBLE_EQ(layered.sum_s, 8192.0 * 8192 / 4 * 8 / 1e9 + 4e-12);
  EXPECT_GT(layered.memory_bytes, shifted_on_16(1e12, 1, 4, 4).memory_bytes);
}

TEST(Shifted, HidesAllButTheFirstPanelWhereMultipliesLastLonger) {
  const ShiftedTime slow = shifted_on_16(1e15, 1, 4, 4, 256);
  EXPECT_DOUBLE_EQ(slow.steps, 32);
  EXPECT_NEAR(slow.total_s, slow.multiply_s + slow.shift_s / 32, 1e-12);
  const ShiftedTime fast = shifted_on_16(1e9, 1, 4, 4, 256);
  EXPECT_NEAR(fast.total_s, fast.shift_s, 1e-12) << "the network is what is waited for";
  EXPECT_GT(shifted_on_16(1e15, 1, 4, 4, 64).multiply_s, slow.multiply_s) << "thin panels cost";
}

TEST(Shifted, OfOneNodeNothingTravels) {
  const ShiftedTime time = shifted_time(
      machine::built_in(), {.m = 100, .n = 100, .k = 100, .flops = 2e6, .rows = 2, .columns = 2, .ranks_per_node = 4});
  EXPECT_EQ(time.received_bytes, 0);
  EXPECT_EQ(time.total_s, time.multiply_s);
  EXPECT_TRUE(fails_with({"no network", "4 nodes"}, [] {
    shifted_time(machine::built_in(), {.m = 100, .n = 100, .k = 100, .flops = 2e6, .rows = 2, .columns = 2});
  }));
}

TEST(Shifted, LayersOfAllRanksAndTheShortestThatHasRoom) {
  EXPECT_TRUE(layered_grids(1).empty());
  const std::vector<std::array<int, 3>> grids = layered_grids(6);
  EXPECT_EQ(grids.size(), 5U) << "2 layers of 1 x 3 and 3 x 1, 3 of 1 x 2 and 2 x 1, 6 of one";
  for (const auto& [layers, rows, columns] : grids) {
    EXPECT_EQ(layers * rows * columns, 6);
    EXPECT_GT(layers, 1);
  }
  const std::vector<ShiftedTime> times{
      {.total_s = 5, .memory_bytes = 10}, {.total_s = 2, .memory_bytes = 30}, {.total_s = 3, .memory_bytes = 20}};
  EXPECT_EQ(shortest(times, 30), 1U);
  EXPECT_EQ(shortest(times, 29), 2U);
  EXPECT_EQ(shortest(times, 9), 0U);
}

machine::Machine with_storage(double bytes_per_s, double latency_s) {
  machine::Machine machine = machine::built_in();
  machine.node.memory_levels = {{.name = "storage",
                                 .capacity_bytes = std::int64_t{1} << 40,
                                 .bandwidth_bytes_per_s = bytes_per_s,
                                 .latency_s = latency_s}};
  return machine;
}

/// 1000 x 1000 x 1000 doubles in tiles of 500 x 250.
const TiledRun thousand{.product = {.m = 1000, .n = 1000, .k = 1000},
                        .tiling = {.tile_m = 500, .tile_n = 250, .strip = 512, .depth = 512},
                        .flops = 2e9,
                        .rate_flops = 1e9};

TEST(Tiled, IsBoundByMultipliesOrByStorageAndHidesTheOther) {
  // A four times, B twice, C once; what is not hidden are the first panels and the last tile.
  TiledRun run = thousand;
  const TiledTime slow = tiled_time(with_storage(1e9, 0), run);
  EXPECT_DOUBLE_EQ(slow.moved_bytes, 7 * 8e6);
  EXPECT_NEAR(slow.total_s, 2 + (500 * 512 + 512 * 250 + 500 * 250) * 8 / 1e9, 1e-12);
  run.overlaps = false;
  EXPECT_NEAR(tiled_time(with_storage(1e9, 0), run).total_s, 2 + 7 * 8e6 / 1e9, 1e-12);
  run.overlaps = true;
  run.rate_flops = 1e15;
  EXPECT_NEAR(tiled_time(with_storage(1e9, 0), run).total_s, 7 * 8e6 / 1e9, 1e-5);
  EXPECT_NEAR(tiled_time(with_storage(1e9, 1e-3), run).total_s, 7 * 8e6 / 1e9 + 8 * 5e-3, 1e-5) << "of each panel";
  EXPECT_TRUE(fails_with({"storage"}, [&] { tiled_time(machine::built_in(), run); }));
}

TEST(Tiled, EachTileTakesTheLongerOfItsOwn) {
  TiledRun run = thousand;
  run.keeps_a = run.keeps_b = true;
  run.first_a_bytes_per_s = run.first_b_bytes_per_s = 10e6;
  // A tile is multiplied in 0.25 s and reads half of A, 4 MB, and a quarter of B, 2 MB: at 10 MB/s that is longer.
  // Of the first row of tiles, the first reads both there and the others B; of the second, the first reads A.
  const double fast_s = 1 / 1e9;
  const double first_s = 0.6 + (4e6 + 2e6 + 1e6) * fast_s;
  EXPECT_NEAR(tiled_time(with_storage(1e9, 0), run).total_s,
              first_s + 3 * 0.25 + (0.4 + (2e6 + 4e6 + 1e6) * fast_s) + 3 * 0.25, 1e-9);
  EXPECT_DOUBLE_EQ(tiled_time(with_storage(1e9, 0), run).moved_bytes, 9 * 8e6) << "both are also written down";
  run.keeps_a = run.keeps_b = false;
  EXPECT_NEAR(tiled_time(with_storage(1e9, 0), run).total_s, 8 * (0.6 + 1e6 * fast_s), 1e-9);
}

TEST(Tiled, ThinBlocksTakeLonger) {
  TiledRun run = thousand;
  run.tiling.depth = 64;
  run.tiling.strip = 128;
  EXPECT_NEAR(tiled_time(with_storage(1e12, 0), run).multiply_s,
              2 * (1 + 8.0 / 64 + 10.0 / 128) / (1 + 8.0 / 512 + 10.0 / 512), 1e-9);
}

TEST(Tiled, MovesNoLessThanItsBoundAndNotMuchMore) {
  double before = 0;
  for (const std::int64_t edge : {100, 1000, 10000, 100000}) {
    const Product product{.m = edge, .n = edge, .k = edge};
    const double budget = 64 << 20;
    const Tiling tiling = choose_tiling(product, usual_tiling_rates(2), static_cast<std::int64_t>(budget), 0);
    const TiledTime time = tiled_time(
        with_storage(1e9, 1e-4),
        {.product = product, .tiling = tiling, .flops = gemm_flops(static_cast<double>(edge)), .budget_bytes = budget});
    EXPECT_GE(time.moved_bytes, time.min_bytes * (1 - 1e-12));
    EXPECT_LE(time.moved_bytes, time.min_bytes * 2);
    EXPECT_GT(time.total_s, before);
    before = time.total_s;
  }
}

TEST(Percolation, IsEquationFiveOfThisMachinesLevels) {
  machine::Machine machine = with_storage(1e9, 0);
  machine.node.cache_l2_bytes = 7 * 100 * 100 * 8;  // sub-blocks of 100 words a row
  machine.node.memory_bandwidth_bytes_per_s = 1e300;
  TiledRun run = thousand;
  // Blocks of 500 words a row: two of them a side. Multiplies, two blocks percolating for each of 8 products of blocks,
  // and three matrices transformed, 2 (t b_c)^2 (s + 1) words each.
  const double block_s = 500 * 500 * 8 / 1e9;
  EXPECT_NEAR(percolation_time(machine, run, 1, 3 * 500 * 500 * 8), 2 + 8 * 2 * block_s + 3 * 4 * block_s, 1e-9);
  machine.node.memory_bandwidth_bytes_per_s = 1e9;
  EXPECT_NEAR(percolation_time(machine, run, 1, 3 * 500 * 500 * 8),
              2 + 8 * 2 * block_s + 3 * 4 * block_s + 8 * 25 * 11 * 100 * 100 * 8 / 1e9, 1e-9);
  run.flops *= 4;  // complex
  machine = with_storage(1e300, 0);
  machine.node.memory_bandwidth_bytes_per_s = 1e300;
  EXPECT_NEAR(percolation_time(machine, run, 4, 1e6), 8, 1e-9) << "the cores together have the rate";
}

}  // namespace
}  // namespace penstock::model

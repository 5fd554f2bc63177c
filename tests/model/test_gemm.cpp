// Matrix multiplies: the HTMT paper's figures, and the limits of Cannon's algorithm and of percolation.
#include <gtest/gtest.h>

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

TEST(Cannon, OfOneNodeIsItsMultiply) {
  const machine::Machine machine = machine::find("jean-zay");
  const CannonTime time = cannon_time(machine, {.n = 4096});
  EXPECT_EQ(time.shift_s, 0);
  EXPECT_DOUBLE_EQ(time.total_s, gemm_flops(4096) / (40 * 56e9));
}

TEST(Cannon, ScalesLikeItsVolumeAndItsSurface) {
  const machine::Machine machine = machine::find("jean-zay");
  const CannonTime small = cannon_time(machine, {.n = 1 << 16, .nodes = 16});
  const CannonTime large = cannon_time(machine, {.n = 1 << 17, .nodes = 64});
  EXPECT_NEAR(large.multiply_s / small.multiply_s, 2, 1e-9);
  EXPECT_NEAR(large.shift_s / small.shift_s, 2, 1e-2) << "blocks as large, twice as many shifts";
  EXPECT_EQ(small.hidden_s, 0) << "this transport does not progress";
  machine::Machine progressing = machine;
  progressing.transports[0].progress = 1;
  const CannonTime hidden = cannon_time(progressing, {.n = 1 << 17, .nodes = 64});
  EXPECT_NEAR(hidden.total_s, hidden.multiply_s + hidden.shift_s / 8, 1e-9) << "all but the alignment";
  EXPECT_EQ(cannon_time(progressing, {.n = 1 << 17, .nodes = 64, .overlaps = false}).total_s, large.total_s);
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

TEST(Cannon, RefusesWhatCannotRun) {
  EXPECT_TRUE(
      fails_with({"square number", "12"}, [] { cannon_time(machine::find("jean-zay"), {.n = 8, .nodes = 12}); }));
  EXPECT_TRUE(fails_with({"no network"}, [] { cannon_time(machine::built_in(), {.n = 8, .nodes = 4}); }));
  EXPECT_TRUE(fails_with({"0 words"}, [] { cannon_time(machine::find("jean-zay"), {}); }));
}

machine::Machine with_storage() {
  machine::Machine machine = machine::built_in();
  machine.node.memory_levels = {{"storage", std::int64_t{1} << 40, 1e9, 1e-4}, {"memory", 5 << 20, 40e9, 1e-7}};
  return machine;
}

TEST(OutOfCore, MovesNoLessThanItsBoundAndNotMuchMore) {
  double before = 0;
  for (const double edge : {100.0, 1000.0, 10000.0, 100000.0}) {
    const OutOfCoreTime time = out_of_core_time(with_storage(), {.n = edge});
    EXPECT_GE(time.moved_bytes, time.least_bytes * (1 - 1e-12));
    EXPECT_LE(time.moved_bytes, time.least_bytes * 2.3) << "five blocks where one is the bound: sqrt(5)";
    EXPECT_GT(time.total_s, before);
    before = time.total_s;
  }
  EXPECT_EQ(out_of_core_time(with_storage(), {.n = 1000}).block, 362);
}

TEST(OutOfCore, HidesTheFasterPartBehindTheSlower) {
  const OutOfCoreTime both = out_of_core_time(with_storage(), {.n = 1e5});
  const OutOfCoreTime apart = out_of_core_time(with_storage(), {.n = 1e5, .overlaps = false});
  EXPECT_DOUBLE_EQ(apart.total_s, apart.multiply_s + apart.move_s);
  EXPECT_NEAR(both.total_s / std::max(both.multiply_s, both.move_s), 1, 1e-3);
}

TEST(OutOfCore, RefusesWhatCannotRun) {
  EXPECT_TRUE(fails_with({"no memory level 'storage'", "it has none"},
                         [] { out_of_core_time(machine::built_in(), {.n = 8}); }));
  EXPECT_TRUE(
      fails_with({"39 bytes", "give 40"}, [] { out_of_core_time(with_storage(), {.n = 8, .budget_bytes = 39}); }));
}

TEST(Tiled, IsBoundByMultipliesOrByStorageAndHidesTheOther) {
  machine::Machine machine = machine::built_in();
  machine.node.memory_levels = {
      {.name = "storage", .capacity_bytes = 1 << 30, .bandwidth_bytes_per_s = 1e9, .latency_s = 0}};
  TiledRun run{
      .m = 1000, .n = 1000, .k = 1000, .flops = 2e9, .rate_flops = 1e9, .tile_m = 500, .tile_n = 250, .depth = 100};
  // A four times, B twice, C once; what is not hidden are the first panels and the last tile.
  EXPECT_DOUBLE_EQ(tiled_time(machine, run).moved_bytes, 7 * 8e6);
  EXPECT_NEAR(tiled_time(machine, run).total_s, 2 + (50e3 + 25e3 + 125e3) * 8 / 1e9, 1e-12);
  run.rate_flops = 1e15;
  EXPECT_NEAR(tiled_time(machine, run).total_s, 7 * 8e6 / 1e9, 1e-5);
  machine.node.memory_levels.clear();
  EXPECT_TRUE(fails_with({"storage"}, [&] { tiled_time(machine, run); }));
}

}  // namespace
}  // namespace penstock::model

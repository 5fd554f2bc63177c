// The time of a transform as our plans run it: reckoned by hand for machines with round figures, and its limits.
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "penstock/model/model.hpp"
#include "tests/fails_with.hpp"

namespace penstock::model {
namespace {

/// Two cores: 10 and 20 GB/s of tiles in memory, ten times that in cache, 1 and 2 GFlop/s.
machine::Machine round_machine() {
  machine::Machine machine = machine::built_in();
  machine.node.cores = 2;
  machine.node.fft_rates = {{.length = 64,
                             .complex_double_flops = 1e9,
                             .complex_single_flops = 2e9,
                             .real_double_flops = 0.5e9,
                             .real_single_flops = 1e9}};
  machine.node.tile_copies = {{1, 1 << 20, 100e9}, {1, 1 << 24, 10e9}, {2, 1 << 20, 200e9}, {2, 1 << 24, 20e9}};
  machine.node.line_transfer_s = 1e-6;
  machine.node.thread_start_s = 5e-6;
  machine.transports = {{.name = "mpi",
                         .progress = 0.5,
                         .send_overhead_s = 2e-6,
                         .receive_overhead_s = 3e-6,
                         .gap_s = 0,
                         .pieces = {{0, 10e-6, 1e9}}}};
  return machine;
}

/// 128^3 complex numbers: 33.5 MB, of which each pass reads and writes all.
PlannedFft cube() {
  return {.fft = {.size = {128, 128, 128}}};
}
constexpr double cube_points = 128.0 * 128 * 128;
constexpr double cube_bytes = 16 * cube_points;

TEST(PlannedFft, IsTransformsAndMovesOneAfterTheOther) {
  const PlannedFftTime time = planned_fft_time(round_machine(), cube());
  ASSERT_EQ(time.passes.size(), 3U);
  EXPECT_TRUE(time.exchanges.empty());
  EXPECT_DOUBLE_EQ(time.transform_s, 3 * 5 * cube_points * 7 / 1e9);
  EXPECT_DOUBLE_EQ(time.move_s, 3 * 2 * cube_bytes / 10e9);
  EXPECT_DOUBLE_EQ(time.total_s, time.transform_s + time.move_s);
}

TEST(PlannedFft, SharesAPassWhereAPlaneIsJoinedInCache) {
  PlannedFft run = cube();
  run.is_plane_in_cache = true;
  const PlannedFftTime time = planned_fft_time(round_machine(), run);
  ASSERT_EQ(time.passes.size(), 2U);
  EXPECT_DOUBLE_EQ(time.transform_s, 3 * 5 * cube_points * 7 / 1e9);
  // Two passes over memory, and the plane, half a pass, in cache.
  EXPECT_DOUBLE_EQ(time.move_s, 2 * 2 * cube_bytes / 10e9 + cube_bytes / 100e9);
}

TEST(PlannedFft, HalvesWithTwoCoresAndNoFurther) {
  const machine::Machine machine = round_machine();
  const double one_s = planned_fft_time(machine, cube()).total_s;
  PlannedFft two = cube();
  two.threads = 2;
  EXPECT_DOUBLE_EQ(planned_fft_time(machine, two).total_s, one_s / 2 + 5e-6);
  PlannedFft ranks = cube();
  ranks.ranks_per_node = ranks.tuning.grid.tz = 2;
  EXPECT_DOUBLE_EQ(planned_fft_time(machine, ranks).total_s, one_s / 2 + 1e-6);
  PlannedFft four = cube();
  four.threads = 4;
  EXPECT_DOUBLE_EQ(planned_fft_time(machine, four).total_s, one_s / 2 + 5e-6);
}

TEST(PlannedFft, SharesAHostsProcessorsBetweenItsNodes) {
  machine::Machine machine = round_machine();
  machine.count = 4;
  machine.network = machine::Network{.link_bandwidth_bytes_per_s = 1e9};
  machine.transports = {{.name = "mpi", .pieces = {{.latency_s = 1e-6, .bandwidth_bytes_per_s = 1e9}}}};
  PlannedFft ranks = cube();
  ranks.ranks_per_node = ranks.tuning.grid.tz = 4;
  PlannedFft nodes = cube();
  nodes.nodes = nodes.nodes_per_host = nodes.tuning.grid.tz = 4;
  const PlannedFftTime of_ranks = planned_fft_time(machine, ranks);
  const PlannedFftTime of_nodes = planned_fft_time(machine, nodes);
  EXPECT_DOUBLE_EQ(of_nodes.transform_s, of_ranks.transform_s);
  EXPECT_DOUBLE_EQ(of_nodes.move_s, of_ranks.move_s);
  EXPECT_GT(of_nodes.transfer_s, 0);
  nodes.nodes_per_host = 1;  // each on two cores of its own
  EXPECT_LT(planned_fft_time(machine, nodes).transform_s, of_nodes.transform_s);
  nodes.nodes_per_host = 0;
  EXPECT_THROW(planned_fft_time(machine, nodes), Error);
}

TEST(PlannedFft, GivesAThreadMoreWhereItemsDoNotDivide) {
  PlannedFft run = cube();
  run.fft.size = {128, 128, 3};
  run.is_plane_in_cache = true;
  const double one_s = planned_fft_time(round_machine(), run).passes[0].transform_s;
  run.threads = 2;  // two planes and one
  EXPECT_DOUBLE_EQ(planned_fft_time(round_machine(), run).passes[0].transform_s, one_s * 2 / 3);
}

TEST(PlannedFft, OfRealFieldsTransformsAndReadsHalf) {
  PlannedFft run = cube();
  run.fft.is_real = true;
  const PlannedFftTime time = planned_fft_time(round_machine(), run);
  const double half = 128.0 * 128 * 65;
  EXPECT_DOUBLE_EQ(time.passes[0].transform_s, 2.5 * cube_points * 7 / 0.5e9);
  EXPECT_DOUBLE_EQ(time.passes[0].move_s, (8 * cube_points + 16 * half) / 10e9);
  EXPECT_DOUBLE_EQ(time.passes[2].transform_s, 5 * half * 7 / 1e9);
}

TEST(PlannedFft, SendsMessagesWhereMemoryIsNotShared) {
  PlannedFft run = cube();
  run.ranks_per_node = run.tuning.grid.tz = 2;
  run.is_node_shared = false;
  const machine::Machine machine = round_machine();
  const PlannedFftTime packed = planned_fft_time(machine, run);
  ASSERT_EQ(packed.exchanges.size(), 1U);
  EXPECT_DOUBLE_EQ(packed.transfer_s, 10e-6 + cube_bytes / 4 / 1e9);  // half of each half
  EXPECT_DOUBLE_EQ(packed.overhead_s, 5e-6);
  EXPECT_EQ(packed.hidden_s, 0);
  run.tuning.planes_per_message = 16;
  const PlannedFftTime four = planned_fft_time(machine, run);
  EXPECT_EQ(four.exchanges[0].groups, 4);
  EXPECT_DOUBLE_EQ(four.overhead_s, 4 * 5e-6);
  const auto work_s = [&](std::size_t pass) { return four.passes[pass].transform_s + four.passes[pass].move_s; };
  EXPECT_DOUBLE_EQ(four.hidden_s, 0.75 * std::min(0.5 * four.transfer_s, work_s(1) + four.overhead_s));
}

TEST(PlannedFft, HidesTheNextPassAsWellWhereItsDataComeInTheOrderOfTheirUse) {
  PlannedFft run = cube();
  run.ranks_per_node = run.tuning.grid.tz = 2;
  run.is_node_shared = false;
  run.tuning.planes_per_message = 16;
  run.tuning.deferred_parts = 6;
  const PlannedFftTime late = planned_fft_time(round_machine(), run);
  const double sent_s = late.passes[1].transform_s + late.passes[1].move_s + late.overhead_s;
  const double read_s = late.passes[2].transform_s + late.passes[2].move_s;
  EXPECT_DOUBLE_EQ(late.overhead_s, (4 + 6) * 5e-6);
  EXPECT_DOUBLE_EQ(late.hidden_s, 0.75 * std::min(0.25 * 0.5 * late.transfer_s, sent_s) +
                                      std::min(0.75 * 0.5 * late.transfer_s, 7.0 / 8 * read_s));

  // A peer in the same row walks the planes that are sent: what is sent early is used early.
  run.tuning.deferred_parts = 0;
  run.tuning.grid.ty = 2;
  run.tuning.grid.tz = 1;
  run.tuning.planes_per_message = 8;
  machine::Machine machine = round_machine();
  machine.transports.front().progress = 1;
  machine.transports.front().pieces.front().bandwidth_bytes_per_s = 1e8;  // so that passes are short beside it
  const PlannedFftTime rows = planned_fft_time(machine, run);
  double work_s = rows.overhead_s;
  for (const std::size_t pass : {0U, 1U}) {
    work_s += rows.passes[pass].transform_s + rows.passes[pass].move_s;
  }
  EXPECT_GT(rows.transfer_s, work_s);
  EXPECT_DOUBLE_EQ(rows.hidden_s, 15.0 / 16 * work_s);
}

TEST(PlannedFft, BringsTheSpectrumBackByAPassWithoutTransforms) {
  PlannedFft run = cube();
  run.is_output_as_input = true;
  EXPECT_EQ(planned_fft_time(round_machine(), run).passes.size(), 3U);  // one rank has it there already
  run = cube();
  run.ranks_per_node = 2;
  run.tuning.grid.tz = 2;
  const PlannedFftTime without = planned_fft_time(round_machine(), run);
  run.is_output_as_input = true;
  const PlannedFftTime with = planned_fft_time(round_machine(), run);
  ASSERT_EQ(with.passes.size(), 4U);
  EXPECT_EQ(with.passes[3].transform_s, 0);
  EXPECT_DOUBLE_EQ(with.move_s, without.move_s * 4 / 3);
}

TEST(PlannedFft, OfABatchIsThatOfItsFields) {
  PlannedFft run = cube();
  const double one_s = planned_fft_time(round_machine(), run).total_s;
  run.fft.fields = 3;
  EXPECT_DOUBLE_EQ(planned_fft_time(round_machine(), run).total_s, 3 * one_s);
}

TEST(PlannedFft, NeverGrowsWithMoreOfAResource) {
  std::mt19937 random(20261121);
  const auto pick = [&](std::initializer_list<std::int64_t> values) {
    return values.begin()[random() % values.size()];
  };
  for (int i = 0; i < 1000; ++i) {
    machine::Machine machine = i % 2 == 0 ? round_machine() : machine::find("jean-zay");
    PlannedFft run = cube();
    run.fft.size = {pick({1, 37, 64, 256}), pick({64, 100, 128}), pick({64, 81, 512})};
    run.fft.is_real = pick({0, 1}) == 1;
    run.fft.real_bytes = pick({4, 8});
    run.ranks_per_node = pick({1, 2, 4});
    run.nodes = i % 2 == 0 ? 1 : pick({1, 2, 8});
    run.threads = pick({1, 2, 3});
    const auto ranks = static_cast<int>(run.nodes * run.ranks_per_node);
    const int ty = ranks % 2 == 0 && pick({0, 1}) == 1 ? 2 : 1;
    run.tuning.grid = {ty, ranks / ty};
    run.tuning.planes_per_message = pick({0, 1, 7});
    run.tuning.deferred_parts = pick({0, 1, 7});
    run.is_node_shared = pick({0, 1}) == 1;
    run.is_output_as_input = pick({0, 1}) == 1;
    const PlannedFftTime time = planned_fft_time(machine, run);
    EXPECT_GT(time.total_s, 0);
    EXPECT_GE(time.transfer_s, time.hidden_s);
    EXPECT_NEAR(time.total_s,
                time.transform_s + time.move_s + time.start_s + time.overhead_s + time.transfer_s - time.hidden_s,
                1e-12 * time.total_s);
    for (const Gain& gain : planned_fft_gains(machine, run)) {
      EXPECT_GE(gain.factor, 1) << name_of(gain.resource);
      EXPECT_LE(gain.factor, 2 + 1e-9) << name_of(gain.resource);
    }
  }
}

TEST(PlannedFft, RefusesWhatIsNoRun) {
  PlannedFft run = cube();
  run.threads = 0;
  EXPECT_TRUE(fails_with({"0 threads"}, [&] { planned_fft_time(round_machine(), run); }));
  run = cube();
  run.tuning.grid.tz = 2;
  EXPECT_TRUE(fails_with({"2"}, [&] { planned_fft_time(round_machine(), run); }));
  run = cube();
  run.tuning.deferred_parts = 8;
  EXPECT_TRUE(fails_with({"8 deferred parts of 8"}, [&] { planned_fft_time(round_machine(), run); }));
  run = cube();
  run.nodes = run.tuning.grid.tz = 2;
  EXPECT_TRUE(fails_with({"no network"}, [&] { planned_fft_time(round_machine(), run); }));
  run.nodes = 1;
  run.ranks_per_node = 2;
  run.is_node_shared = false;
  run.transport = "pigeons";
  EXPECT_TRUE(fails_with({"pigeons"}, [&] { planned_fft_time(round_machine(), run); }));
}

TEST(NodeRates, AreInterpolatedAmongLikeLengths) {
  machine::Node node = machine::built_in().node;
  node.fft_rates = {{64, 10, 1, 1, 1}, {100, 3, 1, 1, 1}, {101, 2, 1, 1, 1}, {256, 30, 1, 1, 1}, {1000, 5, 1, 1, 1}};
  const FftKind kind;
  EXPECT_EQ(fft_rate_per_core(node, 100, kind), 3);
  EXPECT_DOUBLE_EQ(fft_rate_per_core(node, 128, kind), 20);
  EXPECT_EQ(fft_rate_per_core(node, 32, kind), 10);
  EXPECT_EQ(fft_rate_per_core(node, 4096, kind), 30);
  EXPECT_NEAR(fft_rate_per_core(node, 315, kind), 4, 0.01);  // near the middle of 100 and 1000, over the logarithm
  EXPECT_EQ(fft_rate_per_core(node, 997, kind), 2);
}

TEST(NodeRates, WithoutCurvesComeFromSingleFigures) {
  const machine::Node node = machine::built_in().node;
  EXPECT_EQ(fft_rate_per_core(node, 100, {.real_bytes = 4}), 2 * node.fft_rate_flops_per_core);
  EXPECT_EQ(tile_bandwidth(node, node.cores, 1e12), node.memory_bandwidth_bytes_per_s);
  EXPECT_EQ(tile_bandwidth(node, 1, 1e12), node.memory_bandwidth_bytes_per_s / static_cast<double>(node.cores));
  EXPECT_TRUE(std::isinf(tile_bandwidth(node, 1, 1e6)));
}

TEST(NodeRates, OfTilesInterpolateTheTimeOfAByte) {
  const machine::Node node = round_machine().node;
  EXPECT_DOUBLE_EQ(tile_bandwidth(node, 1, 1 << 22), 2 / (1 / 100e9 + 1 / 10e9));
  EXPECT_DOUBLE_EQ(tile_bandwidth(node, 1, 1), 100e9);
  EXPECT_DOUBLE_EQ(tile_bandwidth(node, 7, 1e15), 20e9);
}

}  // namespace
}  // namespace penstock::model

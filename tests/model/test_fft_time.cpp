// The time of a distributed transform: its limits, its monotony, and the published runs on BlueGene/P.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>
#include <vector>

#include "penstock/model/model.hpp"
#include "tests/fails_with.hpp"

namespace penstock::model {
namespace {

const machine::Machine bluegene = machine::find("bluegene-p");

/// The strong scaling of seed 0 on 2,048 cores.
FftRun strong(std::int64_t nodes = 512, std::int64_t ty = 64, std::int64_t tz = 32) {
  return {.fft = {.size = {2048, 1024, 1024}},
          .nodes = nodes,
          .ranks_per_node = 4,
          .ty = ty,
          .tz = tz,
          .planes_per_message = 1,
          .order = RankOrder::nodes_first,
          .transport = "one-sided",
          .copies_per_exchange = 2};
}

TEST(FftTime, HasTheLinkBoundsOfSeed0) {
  struct Case {
    std::int64_t nodes, ty, tz;
    double gflops;
  };
  for (const Case& c : {Case{64, 16, 16, 116},
                        {128, 16, 32, 155},
                        {256, 32, 32, 232},
                        {512, 64, 32, 928},
                        {1024, 64, 64, 1237},
                        {2048, 64, 128, 1484},
                        {4096, 128, 128, 2473}}) {
    const FftRun run = strong(c.nodes, c.ty, c.tz);
    EXPECT_NEAR(fft_flops(run.fft) / fft_link_bound_s(bluegene, run) / 1e9, c.gflops, 0.6) << c.nodes;
  }
  FftRun weak = strong(4096, 128, 128);
  weak.fft.size = {4096, 2048, 2048};
  EXPECT_NEAR(fft_flops(weak.fft) / fft_link_bound_s(bluegene, weak) / 1e9, 2713, 0.6);
}

TEST(FftTime, HasTheMessagesOfSeed0) {
  FftRun run = strong(4096, 128, 128);
  run.fft.size = {4096, 2048, 2048};
  const FftExchange slabs = fft_time(bluegene, run).exchanges[0];
  EXPECT_EQ(slabs.groups, 16);
  EXPECT_EQ(slabs.messages, 127 * 16);
  EXPECT_EQ(slabs.message_bytes, 8192);
  run.planes_per_message = 0;
  const FftExchange packed = fft_time(bluegene, run).exchanges[0];
  EXPECT_EQ(packed.messages, 127);
  EXPECT_EQ(packed.message_bytes, 131072);
}

TEST(FftTime, IsTheSumOfItsParts) {
  const FftTime time = fft_time(bluegene, strong());
  ASSERT_EQ(time.exchanges.size(), 2U);
  EXPECT_DOUBLE_EQ(time.total_s, time.compute_s + time.transfer_s - time.hidden_s);
  EXPECT_DOUBLE_EQ(time.transfer_s, time.exchanges[0].transfer_s() + time.exchanges[1].transfer_s());
  double stages_s = 0;
  for (std::size_t stage = 0; stage < 3; ++stage) {
    stages_s += std::max(time.arithmetic_s[stage], time.memory_s[stage]);
  }
  EXPECT_DOUBLE_EQ(time.compute_s, stages_s + time.copy_s + time.overhead_s + time.bus_s);
  EXPECT_GT(time.hidden_s, 0);
}

TEST(FftTime, HidesTransfersAsFarAsTheTransportProgressesAndTheGrainAllows) {
  FftRun run = strong();
  run.planes_per_message = 0;
  EXPECT_EQ(fft_time(bluegene, run).hidden_s, 0) << "packed slabs";
  run = strong();
  run.transport = "two-sided";
  EXPECT_EQ(fft_time(bluegene, run).hidden_s, 0) << "no progress";
  run = strong();
  run.overlaps = false;
  EXPECT_EQ(fft_time(bluegene, run).hidden_s, 0);
  double hidden_s = 0;
  for (const std::int64_t planes : {32, 16, 8, 4, 2, 1}) {
    run = strong();
    run.planes_per_message = planes;
    const double now_s = fft_time(bluegene, run).hidden_s;
    EXPECT_GE(now_s, hidden_s) << planes;
    hidden_s = now_s;
  }
  EXPECT_GT(hidden_s, 0);
}

TEST(FftTime, WithoutANetworkIsThatOfOneNode) {
  FftRun run{.fft = {.size = {512, 512, 512}}, .ranks_per_node = 4};
  const FftTime time = fft_time(bluegene, run);
  EXPECT_EQ(time.transfer_s, 0);
  const double flops = 5.0 * 512 * 512 * 512 * 27;
  EXPECT_NEAR(time.total_s, flops / (4 * 0.175e9) + time.overhead_s, 1e-9) << "arithmetic is slower than memory there";
}

TEST(FftTime, OfOrdinaryStoresMovesThreeFieldsForTwo) {
  FftRun run = strong();
  const FftTime bypassing = fft_time(bluegene, run);
  run.stores_bypass_cache = false;
  const FftTime ordinary = fft_time(bluegene, run);
  EXPECT_DOUBLE_EQ(ordinary.memory_s[1], 1.5 * bypassing.memory_s[1]);
  EXPECT_DOUBLE_EQ(ordinary.copy_s, 1.5 * bypassing.copy_s);
}

TEST(FftTime, OnASharedMachineHasItsShareOfAllLinks) {
  const machine::Machine machine = machine::find("jean-zay");
  const TopologyMetrics whole = topology_metrics(*machine.network, machine.count);
  FftRun run{.fft = {.size = {512, 512, 512}}, .nodes = 8, .ranks_per_node = 40, .ty = 16, .tz = 20};
  const FftTime alone = fft_time(machine, run);  // within one leaf
  run.placement = Placement::shared;
  const FftTime shared = fft_time(machine, run);
  for (const std::size_t round : {0U, 1U}) {
    EXPECT_DOUBLE_EQ(shared.exchanges[round].link_s, alone.exchanges[round].injection_s * whole.all_to_all_load);
  }
  EXPECT_GT(whole.all_to_all_load, 2);  // 2 : 1, and what static routing leaves
}

TEST(FftTime, OfAMachineThatMovesForNothingIsItsArithmetic) {
  machine::Machine machine = bluegene;
  machine.network->link_bandwidth_bytes_per_s = 1e30;
  machine.node.memory_bandwidth_bytes_per_s = 1e30;
  for (machine::Transport& transport : machine.transports) {
    transport.send_overhead_s = transport.gap_s = 0;
    transport.pieces = {{0, 1e-30, 1e30}};
  }
  const FftRun run = strong();
  EXPECT_NEAR(fft_time(machine, run).total_s / (fft_flops(run.fft) / (2048 * 0.175e9)), 1, 1e-9);
}

TEST(FftTime, NeverGrowsWithMoreOfAResource) {
  std::mt19937 random(4);
  const auto pick = [&](auto... values) {
    const std::vector<std::int64_t> all{values...};
    return all[random() % all.size()];
  };
  for (int i = 0; i < 300; ++i) {
    const machine::Machine machine = machine::find(i % 2 == 0 ? "bluegene-p" : "jean-zay");
    FftRun run{.fft = {.size = {pick(128, 256, 1024), pick(128, 250, 512), pick(128, 512)}},
               .nodes = pick(1, 2, 8, 16, 64),
               .ranks_per_node = pick(1, 4),
               .planes_per_message = pick(0, 1, 3),
               .order = i % 3 == 0 ? RankOrder::nodes_first : RankOrder::cores_first,
               .copies_per_exchange = static_cast<double>(pick(0, 1, 2))};
    const double before_s = fft_time(machine, run).total_s;
    for (const Resource resource : {Resource::arithmetic, Resource::memory_bandwidth, Resource::link_bandwidth,
                                    Resource::message_rate, Resource::latency}) {
      const double after_s = fft_time(doubled(machine, resource), run).total_s;
      EXPECT_LE(after_s, before_s * (1 + 1e-12)) << name_of(resource);
      EXPECT_GE(after_s, before_s / 2 * (1 - 1e-12)) << name_of(resource);
    }
    run.fft.fields = 2;
    EXPECT_GT(fft_time(machine, run).total_s, before_s) << "twice the work";
  }
}

TEST(FftTime, ScalesWithTheUnits) {
  // A machine twice as fast in all takes half of the time.
  machine::Machine machine = bluegene;
  for (const Resource resource : {Resource::arithmetic, Resource::memory_bandwidth, Resource::link_bandwidth,
                                  Resource::message_rate, Resource::latency}) {
    machine = doubled(machine, resource);
  }
  EXPECT_NEAR(fft_time(machine, strong()).total_s, fft_time(bluegene, strong()).total_s / 2, 1e-12);
}

TEST(FftTime, TakesTheFastestGridWhereNoneIsGiven) {
  FftRun run = strong(8, 0, 0);
  run.fft.size = {256, 256, 256};
  const FftTime best = fft_time(bluegene, run);
  EXPECT_EQ(best.ty * best.tz, 32);
  for (const std::int64_t ty : {1, 2, 4, 8, 16, 32}) {
    run.ty = ty;
    run.tz = 32 / ty;
    EXPECT_GE(fft_time(bluegene, run).total_s, best.total_s);
  }
}

TEST(FftGains, NameWhatBoundsTheRunFirst) {
  FftRun run = strong(4096, 128, 128);
  run.planes_per_message = 0;
  run.transport = "two-sided";
  machine::Machine machine = bluegene;
  EXPECT_EQ(fft_gains(machine, run)[0].resource, Resource::link_bandwidth);
  machine.network->link_bandwidth_bytes_per_s *= 1000;
  EXPECT_EQ(fft_gains(machine, run)[0].resource, Resource::arithmetic);
  machine.node.fft_rate_flops_per_core *= 1e6;
  EXPECT_EQ(fft_gains(machine, run)[0].resource, Resource::message_rate);
  machine = machine::find("keeneland");
  run = {.fft = {.size = {2048, 2048, 2048}}, .nodes = 64, .ranks_per_node = 3};
  machine.network->link_bandwidth_bytes_per_s *= 1000;
  machine.transports[0].pieces[0].bandwidth_bytes_per_s *= 1000;
  EXPECT_EQ(fft_gains(machine, run)[0].resource, Resource::bus_bandwidth);
}

TEST(FftTime, StagingThroughTheHostCostsWhatIsExchanged) {
  const machine::Machine machine = machine::find("v100-fdr");
  FftRun run{.fft = {.size = {512, 512, 512}}, .nodes = 4, .ranks_per_node = 4, .ty = 4, .tz = 4};
  const auto with = [&](BusTraffic bus) {
    run.bus = bus;
    return fft_time(machine, run);
  };
  const FftTime none = with(BusTraffic::none);
  const FftTime staged = with(BusTraffic::exchanges);
  const FftTime by_stages = with(BusTraffic::stages);
  EXPECT_EQ(none.bus_s, 0);
  // Two exchanges, in each three quarters of a node's field out and as much in.
  const double node_bytes = 16.0 * 512 * 512 * 512 / 4;
  EXPECT_NEAR(staged.bus_s, 4 * 0.75 * node_bytes / 48e9, 1e-12);
  EXPECT_NEAR(staged.total_s, none.total_s + staged.bus_s, 1e-12);
  EXPECT_NEAR(by_stages.bus_s, 6 * node_bytes / 48e9, 1e-12);
  run.nodes = 1;
  run.ranks_per_node = 1;
  run.ty = run.tz = 1;
  run.bus = BusTraffic::exchanges;
  EXPECT_EQ(fft_time(machine, run).bus_s, 0);  // one rank exchanges nothing
}

TEST(FftTime, RefusesWhatCannotRun) {
  FftRun run = strong(512, 3, 5);
  EXPECT_TRUE(fails_with({"3 x 5", "512 nodes of 4"}, [&] { fft_time(bluegene, run); }));
  run = strong();
  run.transport = "pigeon";
  EXPECT_TRUE(fails_with({"no transport 'pigeon'", "one-sided, two-sided"}, [&] { fft_time(bluegene, run); }));
  run = strong();
  run.fft.size = {32, 32, 32};
  EXPECT_TRUE(fails_with({"64 x 32", "32 x 32 x 32"}, [&] { fft_time(bluegene, run); }));
  run.ty = run.tz = 0;
  EXPECT_TRUE(fails_with({"no grid of 2048 ranks"}, [&] { fft_time(bluegene, run); }));
  EXPECT_TRUE(fails_with({"no network", "512 nodes"}, [&] { fft_time(machine::built_in(), strong()); }));
  EXPECT_TRUE(fails_with({"node.fft_rate_flops_per_core"}, [&] { fft_time(machine::find("htmt-2007"), strong()); }));
}

}  // namespace
}  // namespace penstock::model

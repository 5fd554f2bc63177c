// The equations of the exascale paper and the projections of its Table 1: the values that they give, and their limits.
#include <gtest/gtest.h>

#include <cmath>

#include "penstock/model/model.hpp"
#include "tests/fails_with.hpp"

namespace penstock::model {
namespace {

constexpr double n = 21000;

ExascaleMachine gpu() {
  return project(gpu_of_2010(), 10, Pace::printed_factors);
}

ExascaleMachine cpu() {
  return project(cpu_of_2010(), 10, Pace::printed_factors);
}

double rate_pflops(const SwimLane& lane) {
  return exascale_flops(n) / (lane.memory_s + lane.network_s) / 1e15;
}

TEST(Exascale, HasTheValuesOfThePrintedReading) {
  const auto lanes = swim_lanes(gpu(), cpu(), n, MemoryReading::printed());
  EXPECT_NEAR(lanes[0].network_s, 0.525, 0.0005);
  EXPECT_NEAR(lanes[0].memory_s, 0.0152, 0.00005);
  EXPECT_NEAR(lanes[0].network_s / lanes[0].memory_s, 34.5, 0.05);
  EXPECT_NEAR(lanes[0].network_s / lanes[1].network_s, 4.71, 0.005);
  EXPECT_NEAR(rate_pflops(lanes[0]), 3.69, 0.005);
  EXPECT_NEAR(rate_pflops(lanes[1]) / rate_pflops(lanes[0]), 4.45, 0.01);
  EXPECT_NEAR(lanes[2].nodes, 162e3, 500);
  EXPECT_NEAR(lanes[3].nodes, 131.6e3, 50);
  EXPECT_NEAR(lanes[0].network_s / exascale_times(gpu(), n, MemoryReading::printed()).flops_s, 1000, 60);
}

TEST(Exascale, HasTheValuesOfTheUncappedReading) {
  const auto lanes = swim_lanes(gpu(), cpu(), n, MemoryReading::uncapped());
  EXPECT_NEAR(rate_pflops(lanes[0]), 2.81, 0.01);
  EXPECT_NEAR(lanes[0].network_s / lanes[0].memory_s, 2.87, 0.01);
  EXPECT_NEAR(rate_pflops(lanes[1]) / rate_pflops(lanes[0]), 3.12, 0.01);
  EXPECT_NEAR(lanes[2].nodes, 355e3, 1000);
  EXPECT_NEAR(lanes[3].nodes, 295e3, 1000);
}

/// Prediction 3: n^3 grows like P from 4096^3.
double ratio_after(double years, const ExascaleNetwork& network) {
  const ExascaleMachine machine = project(cpu_of_2010(), years, Pace::printed_factors);
  const double edge = 4096 * std::cbrt(machine.nodes() / cpu_of_2010().nodes());
  const ExascaleTimes times = exascale_times(machine, edge, MemoryReading::printed(), network);
  return times.memory_s / times.network_s;
}

TEST(Exascale, HasTheRatiosOfPrediction3) {
  const ExascaleNetwork ideal{.kind = ExascaleNetwork::Kind::ideal};
  EXPECT_NEAR(ratio_after(0, {}), 0.103, 0.0005);
  EXPECT_NEAR(ratio_after(10, {}), 0.090, 0.0005);
  EXPECT_NEAR(ratio_after(0, ideal), 1.35, 0.005);
  EXPECT_NEAR(ratio_after(10, ideal), 1.89, 0.02);
  EXPECT_NEAR(ratio_after(0, {.dimensions = 4}), 0.26, 0.005);
  EXPECT_NEAR(ratio_after(10, {.dimensions = 4}), 0.29, 0.005);
}

TEST(Exascale, HasItsLimits) {
  ExascaleMachine machine = cpu_of_2010();
  const ExascaleNetwork full{.kind = ExascaleNetwork::Kind::full};
  const ExascaleTimes times = exascale_times(machine, 4096, MemoryReading::printed(), full);
  EXPECT_NEAR(exascale_times(machine, 4096, MemoryReading::printed(), {.dimensions = 1e9}).network_s, times.network_s,
              1e-6 * times.network_s)
      << "a torus of endless dimensions is fully connected";
  machine.link_bytes_per_s = 1e30;
  machine.memory_bytes_per_s = 1e30;
  const ExascaleTimes bare = exascale_times(machine, 4096, MemoryReading::printed());
  EXPECT_LT(bare.network_s + bare.memory_s + bare.shuffle_s, 1e-12);
  EXPECT_EQ(bare.flops_s, times.flops_s);
  EXPECT_EQ(bare.bus_s, 0);
  EXPECT_NEAR(times.flops_s, exascale_flops(4096) / 4e15, 1e-12);
  EXPECT_DOUBLE_EQ(times.shuffle_s * machine.nodes() * 21.3e9, 4.0 * 16 * 4096 * 4096 * 4096);
}

TEST(Exascale, CountsTheBusInAndOutOfThreePhases) {
  ExascaleMachine machine = gpu_of_2010();
  machine.bus_bytes_per_s = 8e9;
  const double bytes_of_node = 16.0 * 2048 * 2048 * 2048 / machine.nodes();
  EXPECT_DOUBLE_EQ(exascale_times(machine, 2048, MemoryReading::printed()).bus_s, 6 * bytes_of_node / 8e9);
}

TEST(Balance, GrowsAsTheTimesDo) {
  // Eqs. 6, 7 and 10 leave out constants: their quotients between two machines are those of the times.
  const ExascaleMachine now = cpu_of_2010();
  const ExascaleMachine later = cpu();
  const double large = 1e9;  // where log_Z n is above 1
  for (const ExascaleNetwork& network : {ExascaleNetwork{.kind = ExascaleNetwork::Kind::ideal},
                                         ExascaleNetwork{.dimensions = 3}, ExascaleNetwork{.dimensions = 5}}) {
    const ExascaleTimes a = exascale_times(now, large, MemoryReading::printed(), network);
    const ExascaleTimes b = exascale_times(later, large, MemoryReading::printed(), network);
    EXPECT_NEAR(balance_memory(later, large) / balance_memory(now, large) / (b.memory_s / a.memory_s), 1, 1e-9);
    EXPECT_NEAR(
        balance_network(later, large, network) / balance_network(now, large, network) / (b.network_s / a.network_s), 1,
        1e-9);
  }
  const double direct =
      balance_memory(later, n) / balance_network(later, n, {}) / (std::log(n) / std::log(later.cache_bytes / 16));
  EXPECT_NEAR(balance_ratio(later, {}) / direct, 1, 1e-9);
}

TEST(Balance, OfANodeIsKeptByStackedMemory) {
  const double now = balance_of_node(6, 8.4e9, 21.3e9, 6e6);
  EXPECT_LT(balance_of_node(6 * 40.7, 8.4e9, 21.3e9 * 40.7, 6e6 * 32), now * 1.05) << "bandwidth that grows like cores";
  EXPECT_GT(balance_of_node(6 * 40.7, 8.4e9, 21.3e9 * 9.7, 6e6 * 32), now * 4);
}

TEST(Projection, HasTheFactorsOfTable1) {
  const Trends trends;
  EXPECT_NEAR(trends.node_flops.factor(10), 59.0, 0.05);
  EXPECT_NEAR(trends.cores.factor(10), 40.7, 0.05);
  EXPECT_NEAR(trends.memory_bandwidth.factor(10), 10.1, 0.05) << "where the table prints 9.7";
  EXPECT_NEAR(trends.cache.factor(10), 32, 1e-9);
  EXPECT_NEAR(trends.link_bandwidth.factor(10), 21.8, 0.05);
  EXPECT_NEAR(trends.machine_flops.factor(10), 1024, 1e-9) << "where the table prints 1000";
  EXPECT_NEAR(trends.system_memory.factor(10), 207, 0.5);
}

TEST(Projection, ToTheSameYearIsTheSameAndBackAgainIsTheFirst) {
  const machine::Machine hopper = machine::find("hopper");
  machine::Machine same = project(hopper, hopper.year);
  same.name = hopper.name;
  EXPECT_EQ(same, hopper);
  machine::Machine back = project(project(hopper, 2020), 2010);
  EXPECT_NEAR(back.node.peak_flops / hopper.node.peak_flops, 1, 1e-12);
  EXPECT_NEAR(back.node.memory_bandwidth_bytes_per_s / hopper.node.memory_bandwidth_bytes_per_s, 1, 1e-12);
  EXPECT_EQ(back.network->dimensions, hopper.network->dimensions);
  const machine::Machine later = project(hopper, 2020);
  EXPECT_NO_THROW(machine::parse(machine::format(later), later.name)) << "is a machine that a file can hold";
  EXPECT_NEAR(static_cast<double>(later.count) / static_cast<double>(hopper.count), std::exp2(10 / 2.4), 1);
  EXPECT_TRUE(fails_with({"from 2010 to 5000"}, [&] { project(hopper, 5000); }));
}

TEST(Projection, GrowsWhatWasMeasuredAsItDoesSingleRates) {
  machine::Machine measured = machine::find("hopper");
  measured.node.fft_rate_flops_per_core = 1e9;
  measured.node.fft_rates = {{.length = 64,
                              .complex_double_flops = 1e9,
                              .complex_single_flops = 2e9,
                              .real_double_flops = 3e9,
                              .real_single_flops = 4e9}};
  const double bandwidth = measured.node.memory_bandwidth_bytes_per_s;
  measured.node.tile_copies = {
      {.threads = measured.node.cores, .working_set_bytes = 1 << 30, .bandwidth_bytes_per_s = bandwidth}};
  measured.node.memory_levels = {{.name = "storage", .capacity_bytes = 1 << 30, .bandwidth_bytes_per_s = 1e9},
                                 {.name = "memory", .capacity_bytes = 1 << 20, .bandwidth_bytes_per_s = bandwidth}};
  const machine::Node later = project(measured, measured.year + 9).node;
  EXPECT_NEAR(later.memory_bandwidth_bytes_per_s / bandwidth, 8, 1e-9);  // doubles in three years
  EXPECT_EQ(tile_bandwidth(later, later.cores, 1 << 30), later.memory_bandwidth_bytes_per_s);
  EXPECT_EQ(fft_rate_per_core(later, 64, {}), later.fft_rate_flops_per_core);
  EXPECT_NEAR(later.fft_rates[0].real_single_flops / later.fft_rate_flops_per_core, 4, 1e-9);
  EXPECT_EQ(later.memory_levels[0].bandwidth_bytes_per_s, 1e9);
  EXPECT_EQ(later.memory_levels[1].bandwidth_bytes_per_s, later.memory_bandwidth_bytes_per_s);
}

TEST(NodesForTime, TakeThatTime) {
  for (const bool overlaps : {false, true}) {
    const double nodes = nodes_for_time(cpu(), n, 0.5, overlaps, MemoryReading::uncapped());
    ExascaleMachine machine = cpu();
    machine.peak_flops = nodes * machine.node_flops;
    const ExascaleTimes times = exascale_times(machine, n, MemoryReading::uncapped());
    EXPECT_NEAR(overlaps ? std::max(times.memory_s, times.network_s) : times.memory_s + times.network_s, 0.5, 1e-9);
  }
}

}  // namespace
}  // namespace penstock::model

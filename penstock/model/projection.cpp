#include "penstock/model/projection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "penstock/base/base.hpp"
#include "penstock/model/node_rates.hpp"
#include "penstock/model/topology.hpp"

namespace penstock::model {
namespace {

std::int64_t grown(std::int64_t value, double factor) {
  return std::max<std::int64_t>(1, std::llround(static_cast<double>(value) * factor));
}

/// `dimensions` with their product grown by `factor`, each by the same.
std::vector<std::int64_t> grown(std::vector<std::int64_t> dimensions, double factor) {
  const double each = std::pow(factor, 1 / static_cast<double>(dimensions.size()));
  for (std::int64_t& extent : dimensions) {
    extent = grown(extent, each);
  }
  return dimensions;
}

}  // namespace

double Trend::factor(double years) const noexcept {
  return std::exp2(years / doubling_years);
}

double Trend::printed_factor(double years) const noexcept {
  return std::pow(printed_ten_year_factor, years / 10);
}

ExascaleMachine cpu_of_2010() noexcept {
  return {.peak_flops = 4e15,
          .node_flops = 50.4e9,
          .memory_bytes_per_s = 21.3e9,
          .cache_bytes = 6e6,
          .link_bytes_per_s = 10e9};
}

ExascaleMachine gpu_of_2010() noexcept {
  return {.peak_flops = 4e15,
          .node_flops = 515e9,
          .memory_bytes_per_s = 144e9,
          .cache_bytes = 2.7e6,
          .link_bytes_per_s = 10e9};
}

ExascaleMachine project(const ExascaleMachine& machine, double years, Pace pace, const Trends& trends) noexcept {
  const auto factor = [&](const Trend& trend) {
    return pace == Pace::doubling_times ? trend.factor(years) : trend.printed_factor(years);
  };
  ExascaleMachine later = machine;
  later.peak_flops *= factor(trends.machine_flops);
  later.node_flops *= factor(trends.node_flops);
  later.memory_bytes_per_s *= factor(trends.memory_bandwidth);
  later.cache_bytes *= factor(trends.cache);
  later.link_bytes_per_s *= factor(trends.link_bandwidth);
  return later;
}

machine::Machine project(const machine::Machine& machine, std::int64_t year, const Trends& trends) {
  const auto years = static_cast<double>(year - machine.year);
  if (std::abs(years) > 100) {
    throw Error(fmt::format("no trend reaches from {} to {}: give a year within a century", machine.year, year));
  }
  machine::Machine later = machine;
  later.name = fmt::format("{}, projected to {}", machine.name, year);
  later.year = year;
  machine::Node& node = later.node;
  const double per_core = trends.node_flops.factor(years) / trends.cores.factor(years);
  node.peak_flops *= trends.node_flops.factor(years);
  node.cores = grown(node.cores, trends.cores.factor(years));
  scale_core_rates(node, per_core);
  scale_memory_bandwidth(node, trends.memory_bandwidth.factor(years));
  node.cache_bytes = grown(node.cache_bytes, trends.cache.factor(years));
  node.cache_l2_bytes = grown(node.cache_l2_bytes, trends.cache.factor(years));
  for (machine::CacheLevel& cache : node.caches) {
    cache.capacity_bytes = grown(cache.capacity_bytes, trends.cache.factor(years));
    cache.bandwidth_bytes_per_s *= per_core;  // a core's caches feed its arithmetic
  }
  node.line_bytes = grown(node.line_bytes, trends.line.factor(years));
  later.count = grown(machine.count, trends.nodes.factor(years));
  if (later.network) {
    machine::Network& network = *later.network;
    network.link_bandwidth_bytes_per_s *= trends.link_bandwidth.factor(years);
    if (network.injection_bandwidth_bytes_per_s) {
      *network.injection_bandwidth_bytes_per_s *= trends.link_bandwidth.factor(years);
    }
    network.partitions.clear();
    if (!network.dimensions.empty()) {
      network.dimensions = grown(network.dimensions, trends.nodes.factor(years));
      later.count =
          std::accumulate(network.dimensions.begin(), network.dimensions.end(), std::int64_t{1}, std::multiplies<>());
    }
  }
  for (machine::Transport& transport : later.transports) {
    for (machine::MessagePiece& piece : transport.pieces) {
      piece.bandwidth_bytes_per_s *= trends.link_bandwidth.factor(years);
    }
  }
  return later;
}

std::array<SwimLane, 4> swim_lanes(const ExascaleMachine& gpu, const ExascaleMachine& cpu, double n,
                                   const MemoryReading& reading) noexcept {
  const auto lane = [&](std::string_view name, ExascaleMachine machine, double nodes) {
    machine.peak_flops = nodes * machine.node_flops;
    const ExascaleTimes times = exascale_times(machine, n, reading);
    return SwimLane{name, nodes, machine.peak_flops, times.memory_s, times.network_s};
  };
  const SwimLane first = lane("GPU", gpu, gpu.nodes());
  const double together_s = first.memory_s + first.network_s;
  const double overlapped_s = std::max(first.memory_s, first.network_s);
  return {first, lane("CPU-1", cpu, gpu.peak_flops / cpu.node_flops),
          lane("CPU-2", cpu, nodes_for_time(cpu, n, together_s, false, reading)),
          lane("CPU-3", cpu, nodes_for_time(cpu, n, overlapped_s, true, reading))};
}

}  // namespace penstock::model

#include "penstock/model/exascale.hpp"

#include <algorithm>
#include <cmath>

#include "penstock/model/powers.hpp"

namespace penstock::model {
namespace {

constexpr double word_bytes = 16;

}  // namespace

double ExascaleNetwork::kappa() const noexcept {
  switch (kind) {
    case Kind::full:
      return 1;
    case Kind::ideal:
      return 5.0 / 6;
    case Kind::bisection:
      return (dimensions - 1) / dimensions;
  }
  return 1;
}

double exascale_flops(double n) noexcept {
  return 5 * cubed(n) * 3 * std::log2(n);
}

ExascaleTimes exascale_times(const ExascaleMachine& machine, double n, const MemoryReading& reading,
                             const ExascaleNetwork& network) noexcept {
  const double nodes = machine.nodes();
  const double bytes = cubed(n) * word_bytes;
  const double log_z_n = std::log(n) / std::log(machine.cache_bytes / reading.cache_word_bytes);
  const double passes = reading.cache_constant * (reading.is_capped ? std::max(log_z_n, 1.0) : log_z_n);
  // Eq. 4 is a lower bound without the factor 2 of the two exchanges, and the paper compares it with eq. 5 as it
  // stands.
  const double exchanges = network.kind == ExascaleNetwork::Kind::ideal ? 1 : 2;
  ExascaleTimes times;
  times.flops_s = 3 * cubed(n) / nodes * 5 * std::log2(n) / machine.node_flops;
  times.memory_s = 3 * passes * bytes / (nodes * machine.memory_bytes_per_s);
  times.network_s = exchanges * bytes / (std::pow(nodes, network.kappa()) * machine.link_bytes_per_s);
  times.shuffle_s = 2 * 2 * bytes / (nodes * machine.memory_bytes_per_s);
  times.bus_s = machine.bus_bytes_per_s > 0 ? 3 * 2 * bytes / (nodes * machine.bus_bytes_per_s) : 0;
  return times;
}

double balance_memory(const ExascaleMachine& machine, double n) noexcept {
  const double log_z_n = std::log(n) / std::log(machine.cache_bytes / word_bytes);
  return machine.node_flops / machine.memory_bytes_per_s / machine.peak_flops * cubed(n) * log_z_n;
}

double balance_network(const ExascaleMachine& machine, double n, const ExascaleNetwork& network) noexcept {
  return std::pow(machine.node_flops / machine.peak_flops, network.kappa()) / machine.link_bytes_per_s * cubed(n);
}

double balance_ratio(const ExascaleMachine& machine, const ExascaleNetwork& network) noexcept {
  return std::pow(machine.node_flops / machine.peak_flops, 1 - network.kappa()) * machine.link_bytes_per_s /
         machine.memory_bytes_per_s;
}

double balance_of_node(double cores, double core_flops, double memory_bytes_per_s, double cache_bytes) noexcept {
  return cores * core_flops / memory_bytes_per_s / std::log2(cache_bytes / cores);
}

double nodes_for_time(const ExascaleMachine& node, double n, double time_s, bool overlaps,
                      const MemoryReading& reading) noexcept {
  const auto time_with = [&](double nodes) {
    ExascaleMachine machine = node;
    machine.peak_flops = nodes * node.node_flops;
    const ExascaleTimes times = exascale_times(machine, n, reading);
    return overlaps ? std::max(times.memory_s, times.network_s) : times.memory_s + times.network_s;
  };
  // The time falls as nodes are added.
  double low = 0;
  double high = 1;
  while (time_with(high) > time_s) {
    low = high;
    high *= 2;
  }
  for (int halvings = 0; halvings < 100; ++halvings) {
    const double middle = (low + high) / 2;
    (time_with(middle) > time_s ? low : high) = middle;
  }
  return high;
}

}  // namespace penstock::model

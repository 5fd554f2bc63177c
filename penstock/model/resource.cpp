#include "penstock/model/resource.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "penstock/model/node_rates.hpp"

namespace penstock::model {
namespace {

constexpr std::array<std::pair<Resource, std::string_view>, 8> names{
    {{Resource::arithmetic, "arithmetic"},
     {Resource::memory_bandwidth, "memory bandwidth"},
     {Resource::bus_bandwidth, "bus bandwidth"},
     {Resource::device, "devices"},
     {Resource::storage_bandwidth, "storage bandwidth"},
     {Resource::link_bandwidth, "link bandwidth"},
     {Resource::message_rate, "message rate"},
     {Resource::latency, "latency"}}};

void double_device(machine::Device& device, Resource resource) {
  if (resource == Resource::device) {
    scale_device_rates(device, 2);
  }
  if (resource == Resource::bus_bandwidth) {
    device.to_device_bytes_per_s *= 2;
    device.to_host_bytes_per_s *= 2;
  }
  if (resource == Resource::latency) {
    device.launch_s /= 2;
    device.copy_latency_s /= 2;
  }
}

void double_node(machine::Node& node, Resource resource) {
  if (resource == Resource::arithmetic) {
    node.peak_flops *= 2;
    scale_core_rates(node, 2);
  }
  if (resource == Resource::memory_bandwidth) {
    scale_memory_bandwidth(node, 2);
  }
  if (resource == Resource::bus_bandwidth && node.bus_bandwidth_bytes_per_s) {
    *node.bus_bandwidth_bytes_per_s *= 2;
  }
  if (node.device) {
    double_device(*node.device, resource);
  }
  for (machine::MemoryLevel& level : node.memory_levels) {
    if (resource == Resource::storage_bandwidth && is_storage(level)) {
      level.bandwidth_bytes_per_s *= 2;
    }
  }
}

void double_transport(machine::Transport& transport, Resource resource) {
  if (resource == Resource::message_rate) {
    transport.send_overhead_s /= 2;
    transport.receive_overhead_s /= 2;
    transport.gap_s /= 2;
  }
  for (machine::MessagePiece& piece : transport.pieces) {
    if (resource == Resource::link_bandwidth) {
      piece.bandwidth_bytes_per_s *= 2;
    }
    if (resource == Resource::latency) {
      piece.latency_s /= 2;
    }
  }
}

}  // namespace

std::string_view name_of(Resource resource) noexcept {
  return names[static_cast<std::size_t>(resource)].second;
}

machine::Machine doubled(const machine::Machine& machine, Resource resource) {
  machine::Machine better = machine;
  double_node(better.node, resource);
  if (better.network && resource == Resource::link_bandwidth) {
    better.network->link_bandwidth_bytes_per_s *= 2;
    if (better.network->injection_bandwidth_bytes_per_s) {
      *better.network->injection_bandwidth_bytes_per_s *= 2;
    }
  }
  for (machine::Transport& transport : better.transports) {
    double_transport(transport, resource);
  }
  return better;
}

std::vector<Gain> gains(const machine::Machine& machine, const std::function<double(const machine::Machine&)>& time_s) {
  constexpr double least = 1.001;
  const double now_s = time_s(machine);
  std::vector<Gain> found;
  for (const auto& [resource, name] : names) {
    const Gain gain{resource, now_s / time_s(doubled(machine, resource))};
    if (gain.factor >= least) {
      found.push_back(gain);
    }
  }
  std::ranges::stable_sort(found, std::greater(), &Gain::factor);
  return found;
}

}  // namespace penstock::model

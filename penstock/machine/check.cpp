#include "penstock/machine/check.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

namespace penstock::machine {
namespace {

/// A key that belongs to some topologies: refused elsewhere, and where it is missing but needed.
void check_belongs(std::string_view key, bool is_given, bool belongs, bool is_needed, std::string_view owner,
                   const Refuse& refuse) {
  if (is_given && !belongs) {
    refuse(key, fmt::format("has a meaning for {} alone", owner));
  }
  if (!is_given && belongs && is_needed) {
    refuse(key, fmt::format("is missing; {} needs it", owner));
  }
}

/// The number of nodes that the dimensions span, or -1 beyond 63 bits.
std::int64_t product(const std::vector<std::int64_t>& dimensions) {
  std::int64_t nodes = 1;
  for (const std::int64_t extent : dimensions) {
    if (__builtin_mul_overflow(nodes, extent, &nodes)) {
      return -1;
    }
  }
  return nodes;
}

void check_share(std::string_view key, double value, const Refuse& refuse) {
  if (value > 1) {
    refuse(key, fmt::format("is {}; give a share, from 0 to 1", value));
  }
}

/// `rank` is what of a value decides the order; `wanted` names it.
template <class Value, class Rank>
void check_order(std::string_view key, const std::vector<Value>& values, std::string_view wanted, const Refuse& refuse,
                 Rank rank) {
  const auto is_behind = [&](const Value& a, const Value& b) { return rank(a) >= rank(b); };
  if (std::adjacent_find(values.begin(), values.end(), is_behind) != values.end()) {
    refuse(key, fmt::format("is not in ascending order of {}", wanted));
  }
}

}  // namespace

void check(const Node& node, const Refuse& refuse) {
  check_order("thread_bandwidths", node.thread_bandwidths, "threads", refuse,
              [](const ThreadBandwidth& each) { return each.threads; });
  check_order("caches", node.caches, "level", refuse, [](const CacheLevel& each) { return each.level; });
  check_order("fft_rates", node.fft_rates, "length", refuse, [](const FftRate& each) { return each.length; });
  check_order("tile_copies", node.tile_copies, "threads, then working_set_bytes", refuse,
              [](const TileCopy& each) { return std::pair(each.threads, each.working_set_bytes); });
}

void check(const DevicePass& pass, const Refuse& refuse) {
  for (const auto& [key, value] : {std::pair("reads", &pass.reads), std::pair("writes", &pass.writes)}) {
    if (*value != "points" && *value != "pencils" && *value != "planes") {
      refuse(key, fmt::format("is '{}'; give one of points, pencils, planes", *value));
    }
  }
}

void check(const Device& device, const Refuse& refuse) {
  check_share("bus_progress", device.bus_progress, refuse);
  check_order("passes", device.passes, "length, then reads, writes and working_set_bytes", refuse,
              [](const DevicePass& each) {
                return std::tuple(each.length, std::string_view(each.reads), std::string_view(each.writes),
                                  each.working_set_bytes);
              });
}

void check(const Network& network, const Refuse& refuse) {
  const bool is_torus = network.topology == Topology::torus;
  const bool is_grid = is_torus || network.topology == Topology::mesh;
  const bool is_tree = network.topology == Topology::fat_tree;
  const bool is_dragonfly = network.topology == Topology::dragonfly;
  check_belongs("dimensions", !network.dimensions.empty(), is_grid, true, "a mesh or torus", refuse);
  check_belongs("partitions", !network.partitions.empty(), is_grid, false, "a mesh or torus", refuse);
  check_belongs("torus_from_nodes", network.torus_from_nodes.has_value(), is_torus, false, "a torus", refuse);
  check_belongs("nodes_per_leaf", network.nodes_per_leaf.has_value(), is_tree, true, "a fat tree", refuse);
  check_belongs("oversubscription", network.oversubscription.has_value(), is_tree, false, "a fat tree", refuse);
  check_belongs("nodes_per_router", network.nodes_per_router.has_value(), is_dragonfly, true, "a dragonfly", refuse);
  check_belongs("routers_per_group", network.routers_per_group.has_value(), is_dragonfly, true, "a dragonfly", refuse);
  check_belongs("global_links_per_router", network.global_links_per_router.has_value(), is_dragonfly, true,
                "a dragonfly", refuse);
  for (const auto& partition : network.partitions) {
    if (partition.size() != network.dimensions.size()) {
      refuse("partitions", fmt::format("holds {}, which has not the {} dimensions of the machine", partition,
                                       network.dimensions.size()));
    }
    if (product(partition) < 0) {
      refuse("partitions", fmt::format("holds {}, more nodes than 64 bits can count", partition));
    }
  }
  if (network.oversubscription && *network.oversubscription < 1) {
    refuse("oversubscription", fmt::format("is {}; give 1 or more", *network.oversubscription));
  }
}

void check(const Transport& transport, const Refuse& refuse) {
  check_share("progress", transport.progress, refuse);
  if (transport.pieces.empty() || transport.pieces.front().from_bytes != 0) {
    refuse("pieces", "does not begin with a piece of from_bytes = 0");
  }
  const auto is_behind = [](const MessagePiece& a, const MessagePiece& b) { return a.from_bytes >= b.from_bytes; };
  if (std::adjacent_find(transport.pieces.begin(), transport.pieces.end(), is_behind) != transport.pieces.end()) {
    refuse("pieces", "is not in ascending order of from_bytes");
  }
}

void check(const Machine& machine, const Refuse& refuse) {
  if (machine.count > 1 && !machine.network) {
    refuse("count", fmt::format("is {}, and more than one node needs a [network]", machine.count));
  }
  if (machine.network && !machine.network->dimensions.empty() &&
      product(machine.network->dimensions) != machine.count) {
    refuse("network", fmt::format("has dimensions {}, which do not multiply to count ({})",
                                  fmt::join(machine.network->dimensions, " x "), machine.count));
  }
  std::set<std::string> names;
  for (const Transport& transport : machine.transports) {
    if (!names.insert(transport.name).second) {
      refuse("transports", fmt::format("has two of the name '{}'", transport.name));
    }
  }
}

}  // namespace penstock::machine

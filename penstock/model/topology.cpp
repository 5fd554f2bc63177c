#include "penstock/model/topology.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <tuple>

#include "penstock/base/base.hpp"

namespace penstock::model {
namespace {

using machine::Network;
using machine::Topology;

/// The share of a node's bytes that goes to others than itself.
double to_others(double nodes) {
  return (nodes - 1) / nodes;
}

TopologyMetrics bus_metrics(double nodes) {
  return {.topology = Topology::bus,
          .links = 1,
          .diameter = nodes > 1 ? 1.0 : 0.0,
          .bisection_links = 1,
          .all_to_all_load = nodes - 1};
}

TopologyMetrics crossbar_metrics(double nodes) {
  return {.links = nodes,
          .diameter = nodes > 1 ? 2.0 : 0.0,
          .bisection_links = nodes / 2,
          .all_to_all_load = to_others(nodes)};
}

/// Leaf switches, and above them as many levels of switches with as many ports as it takes, none thinner than the links
/// that lead up from the leaves. Routes are static, as subnet managers set them: messages from a leaf share the uplinks
/// that their destinations happen to have.
TopologyMetrics fat_tree_metrics(const Network& network, double nodes) {
  const auto per_leaf = static_cast<double>(*network.nodes_per_leaf);
  if (nodes <= per_leaf) {
    return crossbar_metrics(nodes);
  }
  const double oversubscription = network.oversubscription.value_or(1);
  const double uplinks_per_leaf = per_leaf / oversubscription;
  const double ports = per_leaf + uplinks_per_leaf;
  double levels = 2;
  for (double reach = per_leaf * ports; reach < nodes && ports > 2; reach *= ports / 2) {
    ++levels;
  }
  const double leaves = std::ceil(nodes / per_leaf);
  const double uplinks = leaves * uplinks_per_leaf;
  return {.topology = Topology::fat_tree,
          .parts = leaves,
          .links = nodes + (levels - 1) * uplinks,
          .diameter = 2 * levels,
          .bisection_links = nodes / 2 / oversubscription,
          .all_to_all_load =
              std::max(to_others(nodes), oversubscription * (nodes - per_leaf) / nodes /
                                             static_routing_share(per_leaf, std::max(uplinks_per_leaf, 1.0)))};
}

TopologyMetrics grid_metrics(const Network& network, std::int64_t nodes) {
  const bool wraps = is_torus(network, nodes);
  TopologyMetrics metrics{.topology = wraps ? Topology::torus : Topology::mesh};
  double longest = 1;
  for (const std::int64_t extent : shape_of(network, nodes)) {
    const auto length = static_cast<double>(extent);
    // Two nodes have one link, whether it wraps or not.
    const bool has_wrap = wraps && extent > 2;
    metrics.links += static_cast<double>(nodes) * (has_wrap ? 1 : to_others(length));
    metrics.diameter += has_wrap ? std::floor(length / 2) : length - 1;
    metrics.all_to_all_load = std::max(metrics.all_to_all_load, ring_load(extent, wraps, extent, 1));
    if (length > longest) {
      longest = length;
      metrics.bisection_links = static_cast<double>(nodes) / length * (has_wrap ? 2 : 1);
    }
  }
  return metrics;
}

TopologyMetrics hypercube_metrics(std::int64_t nodes) {
  const auto count = static_cast<double>(nodes);
  const double dimensions = std::log2(count);
  return {.topology = Topology::hypercube,
          .links = count * dimensions / 2,
          .diameter = dimensions,
          .bisection_links = count / 2,
          .all_to_all_load = nodes > 1 ? 0.5 : 0.0};
}

/// The groups that so many nodes of a dragonfly are in.
double groups_of(const Network& network, std::int64_t nodes) {
  return std::ceil(static_cast<double>(nodes) /
                   static_cast<double>(*network.nodes_per_router * *network.routers_per_group));
}

/// Messages go the shortest way: within the group to the router with the link, over it, and within the other group.
TopologyMetrics dragonfly_metrics(const Network& network, std::int64_t nodes) {
  const auto per_router = static_cast<double>(*network.nodes_per_router);
  const auto routers = static_cast<double>(*network.routers_per_group);
  const auto global = static_cast<double>(*network.global_links_per_router);
  const auto count = static_cast<double>(nodes);
  const double per_group = per_router * routers;
  const double groups = groups_of(network, nodes);
  if (count <= per_router) {
    return crossbar_metrics(count);
  }
  const double routers_here = groups > 1 ? routers : std::ceil(count / per_router);
  const double outside = std::max(0.0, count - per_group) / count;
  const double local_load = per_router * std::min(per_router / count + 2 * outside / routers_here, 1.0);
  TopologyMetrics metrics{.topology = Topology::dragonfly,
                          .parts = groups,
                          .links = count + groups * routers_here * (routers_here - 1) / 2,
                          .diameter = 3,
                          .bisection_links = std::floor(routers_here / 2) * std::ceil(routers_here / 2),
                          .all_to_all_load = std::max(to_others(count), local_load)};
  if (groups > 1) {
    metrics.links += groups * routers * global / 2;
    metrics.diameter = 5;
    metrics.bisection_links = std::floor(groups / 2) * std::ceil(groups / 2) * routers * global / (groups - 1);
    metrics.all_to_all_load = std::max(metrics.all_to_all_load, per_router * outside / global);
  }
  return metrics;
}

TopologyMetrics metrics_without_rates(const Network& network, std::int64_t nodes) {
  switch (network.topology) {
    case Topology::bus:
      return bus_metrics(static_cast<double>(nodes));
    case Topology::crossbar:
      return crossbar_metrics(static_cast<double>(nodes));
    case Topology::fat_tree:
      return fat_tree_metrics(network, static_cast<double>(nodes));
    case Topology::mesh:
    case Topology::torus:
      return grid_metrics(network, nodes);
    case Topology::hypercube:
      return hypercube_metrics(nodes);
    case Topology::dragonfly:
      return dragonfly_metrics(network, nodes);
  }
  return {};
}

/// Throws Error where the network cannot join so many nodes.
void check_nodes(const Network& network, std::int64_t nodes) {
  if (nodes < 1) {
    throw Error(fmt::format("a network of {} nodes is none: give 1 or more", nodes));
  }
  if (network.topology == Topology::hypercube && !std::has_single_bit(static_cast<std::uint64_t>(nodes))) {
    throw Error(fmt::format("a hypercube has a power of 2 of nodes, and {} is none", nodes));
  }
  if (network.topology == Topology::dragonfly) {
    const double groups = groups_of(network, nodes);
    const std::int64_t others = *network.routers_per_group * *network.global_links_per_router;
    if (groups - 1 > static_cast<double>(others)) {
      throw Error(fmt::format("a dragonfly of {} nodes has {} groups, and the {} links of a group reach {} others",
                              nodes, groups, others, others));
    }
  }
}

/// The links by which a node sends at once.
double links_of_node(const Network& network, std::int64_t nodes) {
  if (network.topology == Topology::hypercube) {
    return std::max(1.0, std::log2(static_cast<double>(nodes)));
  }
  if (network.topology != Topology::mesh && network.topology != Topology::torus) {
    return 1;
  }
  double links = 0;
  for (const std::int64_t extent : shape_of(network, nodes)) {
    links += extent > 2 ? 2 : extent > 1 ? 1 : 0;
  }
  return std::max(links, 1.0);
}

}  // namespace

TopologyMetrics topology_metrics(const Network& network, std::int64_t nodes) {
  check_nodes(network, nodes);
  TopologyMetrics metrics = metrics_without_rates(network, nodes);
  metrics.bisection_bytes_per_s = metrics.bisection_links * network.link_bandwidth_bytes_per_s;
  metrics.injection_bytes_per_s = injection_bytes_per_s(network, nodes);
  return metrics;
}

double injection_bytes_per_s(const Network& network, std::int64_t nodes) {
  check_nodes(network, nodes);
  return network.injection_bandwidth_bytes_per_s ? *network.injection_bandwidth_bytes_per_s
                                                 : network.link_bandwidth_bytes_per_s * links_of_node(network, nodes);
}

double all_to_all_s(const Network& network, std::int64_t nodes, double bytes) {
  const TopologyMetrics metrics = topology_metrics(network, nodes);
  return bytes * std::max(metrics.all_to_all_load / network.link_bandwidth_bytes_per_s,
                          to_others(static_cast<double>(nodes)) / metrics.injection_bytes_per_s);
}

int max_routes_on_a_link(int nodes_per_leaf, std::span<const TreeRoute> routes) {
  std::map<std::tuple<int, int, bool>, int> routes_on;  // leaf, spine, upwards
  int most = 0;
  for (const TreeRoute& route : routes) {
    const int from = route.source / nodes_per_leaf;
    const int to = route.destination / nodes_per_leaf;
    if (from != to) {
      most = std::max({most, ++routes_on[{from, route.spine, true}], ++routes_on[{to, route.spine, false}]});
    }
  }
  return most;
}

double static_routing_share(double messages, double uplinks) noexcept {
  return 1 - std::pow(1 - 1 / uplinks, messages);
}

}  // namespace penstock::model

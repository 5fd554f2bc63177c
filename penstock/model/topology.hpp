// The capacity of a network between nodes: links, diameter, bisection, and the load of its links when all nodes send to
// all (the lecture of seed 1, slides 185 to 193).
//
// A load is the bytes that pass the most loaded link in one direction, for each byte that each node sends. A node sends
// evenly to all members of its team, itself included.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "penstock/machine/machine.hpp"

#pragma GCC visibility push(default)

namespace penstock::model {

/// The metrics of a network of a given number of nodes.
struct TopologyMetrics {
  /// How the nodes are joined: a part of a machine may be simpler than the machine, as a fat tree of one leaf is a
  /// crossbar, and a small part of a torus a mesh.
  machine::Topology topology = machine::Topology::crossbar;
  double parts = 0;                  ///< leaf switches of a fat tree, groups of a dragonfly; else 0
  double links = 0;                  ///< each carries both directions; links of nodes to their switches included
  double diameter = 0;               ///< links between the two nodes farthest apart
  double bisection_links = 0;        ///< the minimum between two halves
  double bisection_bytes_per_s = 0;  ///< over the bisection links, in one direction
  double injection_bytes_per_s = 0;  ///< as the function of this name
  double all_to_all_load = 0;        ///< where each node sends to all
};

/// Throws Error where `network` cannot join `nodes` nodes: less than 1; no power of 2 for a hypercube; more groups of a
/// dragonfly than the links of a group reach.
TopologyMetrics topology_metrics(const machine::Network& network, std::int64_t nodes);

/// What one node of a part of `nodes` nodes can send. Throws Error as `topology_metrics` does.
double injection_bytes_per_s(const machine::Network& network, std::int64_t nodes);

/// The time in which each node sends `bytes` evenly to all nodes: the larger of the most loaded link's time and the
/// time of a node's injection.
double all_to_all_s(const machine::Network& network, std::int64_t nodes, double bytes);

/// The shape of a part of `nodes` nodes of a mesh or torus: the machine's own, else a partition that the network lists,
/// else the factors of `nodes` that are most alike, within the machine's dimensions if such factors exist.
std::vector<std::int64_t> shape_of(const machine::Network& network, std::int64_t nodes);

/// Whether a part of `nodes` nodes is a torus, not a mesh.
bool is_torus(const machine::Network& network, std::int64_t nodes) noexcept;

/// The load of a ring of `extent` nodes (a line, where it does not wrap) whose teams are `members` nodes, `stride`
/// apart. Messages take the shorter of the two routes; where both are equally short, half of the messages take each.
/// `members` x `stride` divides `extent`.
double ring_load(std::int64_t extent, bool wraps, std::int64_t members, std::int64_t stride);

/// The loads of the two exchanges of a grid of TY x TZ ranks: within rows (teams of TY ranks, numbered consecutively)
/// and within columns (teams of TZ ranks, TY apart).
struct GridLoad {
  double load[2] = {0, 0};      ///< rows, columns
  double off_node[2] = {0, 0};  ///< the part of a rank's bytes that leaves its node
  bool is_mapped =
      true;  ///< false: the grid does not follow the dimensions, and each exchange counts as one of all with all
};

/// The numbering of ranks: over all cores of a node first, or over all nodes first (BlueGene/P's mapping XYZT, the
/// first dimension fastest).
enum class RankOrder { cores_first, nodes_first };

/// Throws Error where `ty` x `tz` ranks do not fill `nodes` nodes of `ranks_per_node` each; the last may have fewer.
void check_ranks(std::int64_t nodes, std::int64_t ranks_per_node, std::int64_t ty, std::int64_t tz);

/// The loads of `ty` x `tz` ranks, `ranks_per_node` on each of `nodes` nodes. Throws Error as `check_ranks` and
/// `topology_metrics` do.
GridLoad grid_load(const machine::Network& network, std::int64_t nodes, std::int64_t ranks_per_node, std::int64_t ty,
                   std::int64_t tz, RankOrder order);

/// The route of a message through a fat tree of two levels; nodes are counted from 0.
struct TreeRoute {
  int source;
  int destination;
  int spine;  ///< the switch by which it goes from leaf to leaf
};

/// The maximum number of messages that share a link in one direction; 1 is free of collisions (slide 192).
int max_routes_on_a_link(int nodes_per_leaf, std::span<const TreeRoute> routes);

/// The part of a leaf switch's `uplinks` that is in use when `messages` messages leave the switch and static routing
/// binds each to one uplink, independently of the others: 1 - (1 - 1 / uplinks)^messages. That is 63% for many messages
/// over as many uplinks.
double static_routing_share(double messages, double uplinks) noexcept;

}  // namespace penstock::model

#pragma GCC visibility pop

// What joins the nodes, as far as its capacity goes: links, diameter, bisection, and how loaded its links are when all
// talk to all (the lecture of seed 1, slides 185 to 193).
//
// Loads are of the most loaded link, in one direction, in bytes per byte that each node sends; a node sends evenly to
// all members of its team, itself included.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "penstock/machine/machine.hpp"

namespace penstock::model {

/// A network of so many nodes.
struct TopologyMetrics {
  double links = 0;                  ///< each carries both directions; those of nodes to their switches included
  double diameter = 0;               ///< links between the two nodes farthest apart
  double bisection_links = 0;        ///< the fewest between two halves
  double bisection_bytes_per_s = 0;  ///< over these, in one direction
  double injection_bytes_per_s = 0;  ///< what one node can send
  double all_to_all_load = 0;        ///< where each node sends to all
};

/// Throws Error where `nodes` cannot be joined so: no power of 2 for a hypercube, more groups than links between groups
/// for a dragonfly, less than 1.
TopologyMetrics topology_metrics(const machine::Network& network, std::int64_t nodes);

/// The time in which each node sends `bytes` evenly to all nodes: the most loaded link's, or that of a node's own
/// links.
double all_to_all_s(const machine::Network& network, std::int64_t nodes, double bytes);

/// The shape of a part of a mesh or torus: the machine's own, a partition that the network lists, or the factors of
/// `nodes` that are most alike, within the machine's dimensions if any are.
std::vector<std::int64_t> shape_of(const machine::Network& network, std::int64_t nodes);

/// Whether a part of so many nodes is a torus, not a mesh.
bool is_torus(const machine::Network& network, std::int64_t nodes) noexcept;

/// The load of a ring of `extent` nodes (a line, where it does not wrap) whose teams are `members` nodes `stride`
/// apart; messages go the shorter way, and half of them either way where both are as short. `members` x `stride`
/// divides `extent`.
double ring_load(std::int64_t extent, bool wraps, std::int64_t members, std::int64_t stride);

/// A grid of ranks TY x TZ on nodes: what the exchange within rows (teams of TY ranks, numbered consecutively) and the
/// one within columns (teams of TZ ranks, TY apart) ask of the network.
struct GridLoad {
  double load[2] = {0, 0};      ///< rows, columns
  double off_node[2] = {0, 0};  ///< the part of a rank's bytes that leaves its node
  bool is_mapped =
      true;  ///< false: the grid does not follow the dimensions, and each exchange is taken for one of all with all
};

/// How ranks are numbered: over all cores of a node first, or over all nodes first (BlueGene/P's mapping XYZT, the
/// first dimension fastest).
enum class RankOrder { cores_first, nodes_first };

/// Throws Error where `ty` x `tz` ranks do not fill `nodes` nodes of `ranks_per_node` each; the last may have fewer.
void check_ranks(std::int64_t nodes, std::int64_t ranks_per_node, std::int64_t ty, std::int64_t tz);

/// `ty` x `tz` ranks, `ranks_per_node` on each of `nodes` nodes. Throws Error as `check_ranks` does.
GridLoad grid_load(const machine::Network& network, std::int64_t nodes, std::int64_t ranks_per_node, std::int64_t ty,
                   std::int64_t tz, RankOrder order);

/// One way of a message through a fat tree of two levels; nodes are counted from 0.
struct TreeRoute {
  int source;
  int destination;
  int spine;  ///< the switch by which it goes from leaf to leaf
};

/// The most messages that share a link in one direction; 1 is free of collisions (slide 192).
int max_routes_on_a_link(int nodes_per_leaf, std::span<const TreeRoute> routes);

/// The part of a leaf switch's `uplinks` that works where so many messages leave it, each bound to one of them by
/// static routing, whatever the others do: 1 - (1 - 1 / uplinks)^messages, which is 63% for many of as many.
double static_routing_share(double messages, double uplinks) noexcept;

}  // namespace penstock::model

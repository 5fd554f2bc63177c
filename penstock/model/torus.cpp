// Meshes and tori: the shapes of their parts, and how grids of ranks load their links.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/model/topology.hpp"

namespace penstock::model {
namespace {

using machine::Network;
using machine::Topology;

std::int64_t product(std::span<const std::int64_t> shape) {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

/// Of all ways to write `nodes` as a product of one factor for each of `limits` and no larger than it, the one of the
/// least sum, and of these the one that comes first; empty where there is none. What is left of `nodes` for the later
/// limits recurs in many ways, and is split once.
class EvenFactors {
 public:
  EvenFactors(std::int64_t nodes, std::span<const std::int64_t> limits) : nodes_(nodes), limits_(limits) {
    for (std::int64_t factor = 1; factor <= nodes / factor; ++factor) {
      if (nodes % factor == 0) {
        divisors_.insert(divisors_.end(), {factor, nodes / factor});
      }
    }
    std::ranges::sort(divisors_);
  }

  const std::vector<std::int64_t>& find() { return find(nodes_, 0); }

 private:
  const std::vector<std::int64_t>& find(std::int64_t rest, std::size_t first_limit) {
    const auto [at, is_new] = found_.try_emplace({rest, first_limit});
    if (is_new) {
      at->second = split(rest, first_limit);
    }
    return at->second;
  }

  std::vector<std::int64_t> split(std::int64_t rest, std::size_t first_limit) {
    if (first_limit + 1 == limits_.size()) {
      return rest <= limits_.back() ? std::vector{rest} : std::vector<std::int64_t>();
    }
    std::vector<std::int64_t> best;
    std::int64_t best_sum = 0;
    for (const std::int64_t factor : divisors_) {
      if (factor > std::min(rest, limits_[first_limit]) || (!best.empty() && factor >= best_sum)) {
        break;
      }
      const std::vector<std::int64_t> none;
      const std::vector<std::int64_t>& others = rest % factor == 0 ? find(rest / factor, first_limit + 1) : none;
      const std::int64_t sum = std::accumulate(others.begin(), others.end(), factor);
      if (!others.empty() && (best.empty() || sum < best_sum)) {
        best.assign(1, factor);
        best.insert(best.end(), others.begin(), others.end());
        best_sum = sum;
      }
    }
    return best;
  }

  std::int64_t nodes_;
  std::span<const std::int64_t> limits_;
  std::vector<std::int64_t> divisors_;
  std::map<std::pair<std::int64_t, std::size_t>, std::vector<std::int64_t>> found_;
};

/// A dimension, or the cores of a node, as the teams see it: `rows` consecutive members of a row's team, and columns
/// that are `rows` apart.
struct Axis {
  std::int64_t extent = 1;
  std::int64_t rows = 1;
  bool is_within_node = false;
};

/// Gives the first `ty` ranks of the axes, in their order, to the rows; false where that cuts an axis unevenly.
bool split(std::span<Axis> axes, std::int64_t ty) {
  for (Axis& axis : axes) {
    axis.rows = std::gcd(ty, axis.extent);
    ty /= axis.rows;
    if (axis.rows < axis.extent && ty > 1) {
      return false;
    }
  }
  return ty == 1;
}

bool is_grid(const Network& network) {
  return network.topology == Topology::mesh || network.topology == Topology::torus;
}

/// The part of its bytes that a rank sends off its node, where its team has so many members and some share its node.
double off_node(std::int64_t members, std::int64_t on_node) {
  return static_cast<double>(members - on_node) / static_cast<double>(members);
}

GridLoad load_of_axes(const Network& network, std::int64_t nodes, std::span<const Axis> axes, std::int64_t ty,
                      std::int64_t tz) {
  GridLoad found;
  const bool wraps = is_torus(network, nodes);
  std::int64_t on_node[2] = {1, 1};
  for (const Axis& axis : axes) {
    const std::int64_t columns = axis.extent / axis.rows;
    if (axis.is_within_node) {
      on_node[0] = axis.rows;
      on_node[1] = columns;
    } else {
      found.load[0] = std::max(found.load[0], ring_load(axis.extent, wraps, axis.rows, 1));
      found.load[1] = std::max(found.load[1], ring_load(axis.extent, wraps, columns, axis.rows));
    }
  }
  found.off_node[0] = off_node(ty, on_node[0]);
  found.off_node[1] = off_node(tz, on_node[1]);
  return found;
}

/// The bytes over each link of a ring, in both directions, kept as their differences from link to link.
class Ring {
 public:
  explicit Ring(std::int64_t extent) : extent_(extent), changes_{zeros(extent), zeros(extent)} {}

  /// Over `hops` links from `first` on.
  void send(std::int64_t first, std::int64_t hops, double bytes, bool is_forward) {
    std::vector<double>& changes = changes_[is_forward ? 0 : 1];
    changes[static_cast<std::size_t>(first)] += bytes;
    changes[static_cast<std::size_t>(first + hops)] -= bytes;
  }

  double most() const {
    double largest = 0;
    for (const std::vector<double>& changes : changes_) {
      // Ways that pass the last link go on over the first one.
      std::vector<double> loads(static_cast<std::size_t>(extent_));
      double load = 0;
      for (std::size_t link = 0; link < changes.size(); ++link) {
        load += changes[link];
        loads[link % loads.size()] += load;
      }
      largest = std::max(largest, *std::max_element(loads.begin(), loads.end()));
    }
    return largest;
  }

 private:
  static std::vector<double> zeros(std::int64_t extent) {
    return std::vector<double>(2 * static_cast<std::size_t>(extent));
  }

  std::int64_t extent_;
  std::vector<double> changes_[2];
};

/// Of messages strewn evenly over so many nodes, where each node sends but a part of its bytes to others.
double load_of_part(const Network& network, std::int64_t nodes, double off_node) {
  return off_node > 0 && nodes > 1 ? topology_metrics(network, nodes).all_to_all_load * off_node /
                                         (static_cast<double>(nodes - 1) / static_cast<double>(nodes))
                                   : 0;
}

}  // namespace

bool is_torus(const Network& network, std::int64_t nodes) noexcept {
  return network.topology == Topology::torus && nodes >= network.torus_from_nodes.value_or(1);
}

std::vector<std::int64_t> shape_of(const Network& network, std::int64_t nodes) {
  if (product(network.dimensions) == nodes) {
    return network.dimensions;
  }
  for (const auto& partition : network.partitions) {
    if (product(partition) == nodes) {
      return partition;
    }
  }
  const std::vector<std::int64_t> within = EvenFactors(nodes, network.dimensions).find();
  const std::vector<std::int64_t> anywhere(network.dimensions.size(), nodes);
  return within.empty() ? EvenFactors(nodes, anywhere).find() : within;
}

double ring_load(std::int64_t extent, bool wraps, std::int64_t members, std::int64_t stride) {
  wraps = wraps && extent > 2;  // two nodes have one link
  Ring ring(extent);
  const double share = 1 / static_cast<double>(members);
  for (std::int64_t from = 0; from < extent; ++from) {
    const std::int64_t first = from / (members * stride) * (members * stride) + from % stride;
    for (std::int64_t member = 0; member < members; ++member) {
      const std::int64_t to = first + member * stride;
      const std::int64_t ahead = wraps ? (to - from + extent) % extent : to - from;
      const std::int64_t behind = wraps ? extent - ahead : -ahead;
      if (wraps && ahead == behind) {
        ring.send(from, ahead, share / 2, true);
        ring.send(to, ahead, share / 2, false);
      } else if (wraps ? ahead < behind : ahead > 0) {
        ring.send(from, ahead, share, true);
      } else {
        ring.send(to, behind, share, false);
      }
    }
  }
  return ring.most();
}

void check_ranks(std::int64_t nodes, std::int64_t ranks_per_node, std::int64_t ty, std::int64_t tz) {
  if (ty * tz > nodes * ranks_per_node || ty * tz <= (nodes - 1) * ranks_per_node) {
    throw Error(fmt::format("a grid of {} x {} ranks does not fit {} nodes of {}", ty, tz, nodes, ranks_per_node));
  }
}

GridLoad grid_load(const Network& network, std::int64_t nodes, std::int64_t ranks_per_node, std::int64_t ty,
                   std::int64_t tz, RankOrder order) {
  check_ranks(nodes, ranks_per_node, ty, tz);
  std::vector<Axis> axes;
  for (const std::int64_t extent : is_grid(network) ? shape_of(network, nodes) : std::vector{nodes}) {
    axes.push_back({.extent = extent});
  }
  const Axis cores{.extent = ranks_per_node, .is_within_node = true};
  axes.insert(order == RankOrder::cores_first ? axes.begin() : axes.end(), cores);
  const bool is_mapped = ty * tz == nodes * ranks_per_node && split(axes, ty);
  GridLoad found;
  if (is_mapped && is_grid(network)) {
    return load_of_axes(network, nodes, axes, ty, tz);
  }
  // Rows are consecutive ranks, and columns have what is left of a node.
  const std::int64_t row_on_node =
      order == RankOrder::cores_first ? std::min(ranks_per_node, ty) : std::max<std::int64_t>(ty / nodes, 1);
  const std::int64_t column_on_node = std::min(std::max<std::int64_t>(ranks_per_node / row_on_node, 1), tz);
  found.is_mapped = is_mapped || !is_grid(network);
  // A row's nodes lie together where the network has such parts; a column's are strewn over all of it.
  const bool has_parts = !is_grid(network) && network.topology != Topology::bus && order == RankOrder::cores_first;
  const std::int64_t row_nodes = has_parts ? std::max<std::int64_t>(ty / row_on_node, 1) : nodes;
  found.off_node[0] = off_node(ty, row_on_node);
  found.off_node[1] = off_node(tz, column_on_node);
  found.load[0] = load_of_part(network, row_nodes, found.off_node[0]);
  found.load[1] = load_of_part(network, nodes, found.off_node[1]);
  return found;
}

}  // namespace penstock::model

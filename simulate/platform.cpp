#include "platform.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <iterator>
#include <string>

#include "penstock/base/base.hpp"
#include "penstock/model/model.hpp"

namespace penstock::simulate {
namespace {

namespace s4u = simgrid::s4u;

/// Nodes by coordinates, and the links that leave each: two for each dimension, of one direction each.
class Grid {
 public:
  /// SimGrid's own torus wraps always and, where both ways round are as short, takes the same one from all nodes, which
  /// loads it a quarter more than the routers of real ones do. So routes are made here.
  Grid(s4u::NetZone& zone, const machine::Network& network, std::int64_t nodes)
      : shape_(model::shape_of(network, nodes)), wraps_(model::is_torus(network, nodes)) {
    for (std::int64_t node = 0; node < nodes; ++node) {
      for (std::size_t d = 0; d < shape_.size(); ++d) {
        for (const char* const way : {"up", "down"}) {
          const std::string name = fmt::format("{}-{}-{}", node, d, way);
          links_.push_back(zone.create_link(name, network.link_bandwidth_bytes_per_s)->set_latency(0)->seal());
        }
      }
    }
  }

  /// The links from one node to another.
  std::vector<s4u::LinkInRoute> route(std::int64_t from, std::int64_t to) const {
    std::vector<s4u::LinkInRoute> links;
    std::int64_t at = from;
    std::int64_t stride = 1;
    for (std::size_t d = 0; d < shape_.size(); ++d) {
      const std::int64_t extent = shape_[d];
      std::int64_t place = at / stride % extent;
      const std::int64_t goal = to / stride % extent;
      std::int64_t steps = goal - place;
      if (wraps_ && (2 * std::abs(steps) > extent || (2 * std::abs(steps) == extent && place % 2 == 1))) {
        steps += steps < 0 ? extent : -extent;
      }
      for (; steps != 0; steps += steps < 0 ? 1 : -1) {
        const bool is_up = steps > 0;
        links.emplace_back(links_[(static_cast<std::size_t>(at) * shape_.size() + d) * 2 + (is_up ? 0 : 1)]);
        const std::int64_t next = (place + (is_up ? 1 : extent - 1)) % extent;
        at += (next - place) * stride;
        place = next;
      }
      stride *= extent;
    }
    return links;
  }

 private:
  std::vector<std::int64_t> shape_;
  bool wraps_;
  std::vector<const s4u::Link*> links_;  // by node, dimension and way
};

/// Between all pairs of nodes, by the links of the machine's grid.
void add_routes(s4u::NetZone& zone, const std::vector<s4u::Host*>& hosts, const machine::Machine& machine,
                const machine::Transport& transport) {
  const auto nodes = std::ssize(hosts);
  const Grid grid(zone, *machine.network, nodes);
  const machine::MessagePiece& piece = transport.pieces.back();
  for (std::int64_t from = 0; from < nodes; ++from) {
    // What one message alone takes. Of each node its own: what shares a link is solved for together.
    const s4u::Link* const software = zone.create_link(fmt::format("{}-out", from), piece.bandwidth_bytes_per_s)
                                          ->set_latency(piece.latency_s)
                                          ->set_sharing_policy(s4u::Link::SharingPolicy::FATPIPE)
                                          ->seal();
    for (std::int64_t to = 0; to < nodes; ++to) {
      if (from != to) {
        std::vector<s4u::LinkInRoute> links = grid.route(from, to);
        links.emplace_back(software);
        zone.add_route(hosts[static_cast<std::size_t>(from)]->get_netpoint(),
                       hosts[static_cast<std::size_t>(to)]->get_netpoint(), nullptr, nullptr, links, false);
      }
    }
  }
}

}  // namespace

void check_platform(const machine::Machine& machine, std::int64_t nodes) {
  const bool is_grid = machine.network && (machine.network->topology == machine::Topology::torus ||
                                           machine.network->topology == machine::Topology::mesh);
  if (!is_grid) {
    throw Error(fmt::format("{} is not joined by a mesh or torus, which are what is simulated", machine.name));
  }
  if (nodes < 1 || nodes > machine.count) {
    throw Error(fmt::format("{} nodes of {}, which has {}", nodes, machine.name, machine.count));
  }
}

std::vector<s4u::Host*> make_platform(const machine::Machine& machine, const machine::Transport& transport,
                                      std::int64_t nodes, Links sharing) {
  const bool has_links = sharing == Links::shared;
  s4u::NetZone* const zone = has_links ? s4u::create_full_zone("machine") : s4u::create_empty_zone("machine");
  std::vector<s4u::Host*> hosts;
  for (std::int64_t node = 0; node < nodes; ++node) {
    s4u::Host* const host = zone->create_host(std::to_string(node), machine.node.peak_flops);
    host->set_core_count(static_cast<int>(machine.node.cores))->seal();
    hosts.push_back(host);
  }
  if (has_links) {
    add_routes(*zone, hosts, machine, transport);
  }
  zone->seal();
  return hosts;
}

}  // namespace penstock::simulate

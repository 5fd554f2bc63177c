// `penstock model topology`: what joins the nodes of a machine.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "penstock/base/base.hpp"
#include "penstock/base/parse.hpp"
#include "penstock/shape/shape.hpp"
#include "penstock/study/study.hpp"

namespace penstock::study {
namespace {

/// What the exchanges within rows and columns of a grid of ranks ask of the links, beside one of all with all.
void add_grid(const shape::Grid& grid, model::RankOrder order, std::int64_t nodes, const Case& at,
              Quantities& quantities) {
  const std::int64_t ranks = at.integer("ranks_per_node");
  const model::GridLoad load = model::grid_load(*at.machine.network, nodes, ranks, grid.ty, grid.tz, order);
  const double bytes = at.number("bytes");
  for (const std::size_t round : {0U, 1U}) {
    const std::string key = round == 0 ? "rows" : "columns";
    quantities.push_back({key + "_load", "load of " + key, Unit::number, load.load[round]});
    quantities.push_back({key + "_s", "exchange within " + key, Unit::seconds,
                          bytes * load.load[round] / at.machine.network->link_bandwidth_bytes_per_s});
  }
  // Czechowski et al. 2012, eqs. 4 and 5, of one exchange: the ideal mapping onto a torus of three dimensions, and the
  // bound by its bisection.
  const double link_s = bytes / at.machine.network->link_bandwidth_bytes_per_s;
  quantities.push_back(
      {"ideal_s", "ideal mapping (eq. 4)", Unit::seconds, link_s * std::pow(static_cast<double>(nodes), 1.0 / 6)});
  quantities.push_back(
      {"bisection_s", "bisection (eq. 5)", Unit::seconds, link_s * std::cbrt(static_cast<double>(nodes))});
}

Quantities evaluate_network(const shape::Grid& grid, model::RankOrder order, const Case& at) {
  if (!at.machine.network) {
    throw Error(fmt::format("{} has no network: give --machine", at.machine.name));
  }
  const std::int64_t nodes = at.integer("nodes") > 0 ? at.integer("nodes") : at.machine.count;
  const double bytes = at.number("bytes");
  const machine::Network& network = *at.machine.network;
  const model::TopologyMetrics metrics = model::topology_metrics(network, nodes);
  const double time_s = model::all_to_all_s(network, nodes, bytes);
  const std::string shape =
      network.dimensions.empty() ? "" : fmt::format("{}", fmt::join(model::shape_of(network, nodes), "x"));
  Quantities quantities = {
      {"nodes", "nodes", Unit::number, static_cast<double>(nodes)},
      {"topology", "topology", Unit::text, 0, std::string(machine::name_of(metrics.topology)), false},
      {"shape", "shape", Unit::text, 0, shape, !shape.empty()},
      {"parts", "leaf switches, or groups", Unit::number, metrics.parts, {}, false},
      {"links", "links", Unit::number, metrics.links},
      {"diameter", "diameter", Unit::number, metrics.diameter},
      {"bisection_links", "links of bisection", Unit::number, metrics.bisection_links},
      {"bisection_bytes_per_s", "bisection", Unit::bytes_per_s, metrics.bisection_bytes_per_s},
      {"bisection_per_node_bytes_per_s", "of a node", Unit::bytes_per_s,
       metrics.bisection_bytes_per_s / static_cast<double>(nodes)},
      {"injection_bytes_per_s", "injection", Unit::bytes_per_s, metrics.injection_bytes_per_s},
      {"all_to_all_load", "load of all-to-all", Unit::number, metrics.all_to_all_load},
      {"time_s", fmt::format("all-to-all, {} a node", format_bytes(static_cast<std::uint64_t>(bytes))), Unit::seconds,
       time_s}};
  if (grid.ty > 0) {
    add_grid(grid, order, nodes, at, quantities);
  }
  return quantities;
}

}  // namespace

OptionedStudy topology_study() {
  Study described;
  described.name = "topology";
  described.numbers = {{"nodes", 0}, {"bytes", 1048576}, {"ranks_per_node", 1}};
  described.plotted = {"bisection_bytes_per_s", "bisection_per_node_bytes_per_s"};
  OptionedStudy all = with_options(std::move(described));
  const auto study = all.study;
  all.add_number("--nodes", "Nodes; 0: all of the machine", "nodes", 0);
  all.add_value("--bytes", "BYTES", "What each node sends to all, as 1MiB (1MiB)",
                [study](const std::string& text) { study->numbers["bytes"] = static_cast<double>(parse_bytes(text)); },
                {"bytes"});
  auto grid = std::make_shared<shape::Grid>();
  all.add_value("--grid", "TYxTZ", "A grid of ranks: what its exchanges ask of the links",
                [grid](const std::string& text) {
                  const auto [ty, tz] = parse_grid("--grid", text);
                  *grid = {ty, tz};
                });
  auto order = std::make_shared<model::RankOrder>(model::RankOrder::nodes_first);
  all.add_value("--order", "nodes|cores",
                "Whether its ranks are numbered over all nodes first, or over a node's (nodes)",
                [order](const std::string& text) { *order = parse_rank_order("--order", text); });
  all.add_number("--ranks-per-node", "Ranks on each node", "ranks_per_node", 1);
  study->evaluate = [=](const Case& at) { return evaluate_network(*grid, *order, at); };
  return all;
}

}  // namespace penstock::study

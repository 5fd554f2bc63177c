// `penstock model topology`: what joins the nodes of a machine.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include "penstock/base/base.hpp"
#include "penstock/cli/model.hpp"
#include "penstock/cli/parse.hpp"
#include "penstock/cli/study.hpp"

namespace penstock::cli {
namespace {

Figures evaluate_network(const Case& at) {
  if (!at.machine.network) {
    throw Error(fmt::format("{} has no network: give --machine", at.machine.name));
  }
  const std::int64_t nodes = at.integer("nodes") > 0 ? at.integer("nodes") : at.machine.count;
  const double bytes = at.number("bytes");
  const machine::Network& network = *at.machine.network;
  const model::TopologyFacts facts = model::topology_facts(network, nodes);
  const double time_s = model::all_to_all_s(network, nodes, bytes);
  const std::string shape =
      network.dimensions.empty() ? "" : fmt::format("{}", fmt::join(model::shape_of(network, nodes), "x"));
  Figures figures = {{"nodes", "nodes", Unit::number, static_cast<double>(nodes)},
                     {"shape", "shape", Unit::text, 0, shape, !shape.empty()},
                     {"links", "links", Unit::number, facts.links},
                     {"diameter", "diameter", Unit::number, facts.diameter},
                     {"bisection_links", "links of bisection", Unit::number, facts.bisection_links},
                     {"bisection_bytes_per_s", "bisection", Unit::bytes_per_s, facts.bisection_bytes_per_s},
                     {"bisection_per_node_bytes_per_s", "of a node", Unit::bytes_per_s,
                      facts.bisection_bytes_per_s / static_cast<double>(nodes)},
                     {"injection_bytes_per_s", "injection", Unit::bytes_per_s, facts.injection_bytes_per_s},
                     {"all_to_all_load", "load of all-to-all", Unit::number, facts.all_to_all_load},
                     {"time_s", fmt::format("all-to-all, {} a node", format_bytes(static_cast<std::uint64_t>(bytes))),
                      Unit::seconds, time_s}};
  return figures;
}

}  // namespace

Body declare_model_topology(CLI::App& app) {
  auto study = std::make_shared<Study>();
  study->name = "topology";
  study->numbers = {{"nodes", 0}, {"bytes", 1048576}};
  study->plotted = {"bisection_bytes_per_s", "bisection_per_node_bytes_per_s"};
  auto options = declare_study(app, true);
  add_number(app, "--nodes", "Nodes; 0: all of the machine", study, "nodes", 0);
  add_value(app, "--bytes", "BYTES", "What each node sends to all, as 1MiB (1MiB)",
            [study](const std::string& text) { study->numbers["bytes"] = static_cast<double>(parse_bytes(text)); });
  return [=](Session& session) {
    study->evaluate = evaluate_network;
    run_study(session, *study, *options);
  };
}

}  // namespace penstock::cli

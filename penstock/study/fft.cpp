// `penstock model fft`: a distributed transform by our model, or by the equations of the exascale paper.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

#include "penstock/base/base.hpp"
#include "penstock/base/parse.hpp"
#include "penstock/shape/shape.hpp"
#include "penstock/study/study.hpp"

namespace penstock::study {
namespace {

using model::FftRun;
using model::FftTime;

/// What numbers cannot say.
struct FftChoices {
  FftRun run;
  bool has_order = false;
  std::optional<model::MemoryReading> equations;
  model::ExascaleNetwork network;
};

shape::Extents size_of(const Case& at) {
  const std::int64_t n = at.integer("n");
  const shape::Extents size =
      n > 0 ? shape::Extents{n, n, n} : shape::Extents{at.integer("nx"), at.integer("ny"), at.integer("nz")};
  for (const std::int64_t extent : size) {
    if (extent < 1) {
      throw Error(fmt::format("{} points in a direction are none: give --size", extent));
    }
  }
  return size;
}

FftRun run_of(const FftChoices& choices, const Case& at) {
  FftRun run = choices.run;
  run.fft.size = size_of(at);
  run.nodes = at.integer("nodes");
  run.ranks_per_node = at.integer("ranks_per_node");
  run.planes_per_message = at.integer("planes_per_message");
  run.copies_per_exchange = at.number("copies_per_exchange");
  const bool is_grid = at.machine.network && !at.machine.network->dimensions.empty();
  if (!choices.has_order && is_grid) {
    run.order = model::RankOrder::nodes_first;
  }
  return run;
}

Quantities evaluate_run(const FftChoices& choices, const Case& at) {
  const FftRun run = run_of(choices, at);
  const FftTime time = model::fft_time(at.machine, run);
  FftRun resolved = run;
  resolved.ty = time.ty;
  resolved.tz = time.tz;
  const auto sum = [](const std::array<double, 3>& stages) {
    return std::accumulate(stages.begin(), stages.end(), 0.0);
  };
  double message_bytes = 0;
  double messages = 0;
  for (const model::FftExchange& exchange : time.exchanges) {
    message_bytes = std::max(message_bytes, exchange.message_bytes);
    messages += exchange.messages;
  }
  const double flops = model::fft_flops(run.fft);
  FftRun alone = run;
  alone.nodes = 1;
  alone.ty = alone.tz = 0;
  const double alone_s = model::fft_time(at.machine, alone).total_s;
  Quantities quantities = {
      {"nodes", "nodes", Unit::number, static_cast<double>(run.nodes)},
      {"grid", "grid", Unit::text, 0, fmt::format("{}x{}", time.ty, time.tz)},
      {"time_s", "time", Unit::seconds, time.total_s},
      {"rate_flops", "rate", Unit::flops_per_s, rate_of(flops, time.total_s)},
      {"efficiency", "efficiency", Unit::number, rate_of(alone_s, static_cast<double>(run.nodes) * time.total_s)},
      {"compute_s", "computing", Unit::seconds, time.compute_s},
      {"arithmetic_s", "  arithmetic", Unit::seconds, sum(time.arithmetic_s), {}, false},
      {"memory_s", "  or memory traffic, if longer", Unit::seconds, sum(time.memory_s), {}, false},
      {"copy_s", "  copies", Unit::seconds, time.copy_s, {}, false},
      {"bus_s", "  bus", Unit::seconds, time.bus_s, {}, false},
      {"overhead_s", "  overhead of messages", Unit::seconds, time.overhead_s, {}, false},
      {"transfer_s", "transfers", Unit::seconds, time.transfer_s},
      {"hidden_s", "hidden", Unit::seconds, time.hidden_s},
      {"link_bound_s",
       "least time of the links",
       Unit::seconds,
       time.exchanges.empty() ? 0 : model::fft_link_bound_s(at.machine, resolved),
       {},
       false},
      {"messages", "messages of a rank", Unit::number, messages, {}, false},
      {"message_bytes", "length of a message", Unit::bytes, message_bytes},
  };
  if (!time.is_mapped) {
    quantities.push_back({"note", "note", Unit::text, 0,
                          "the grid does not follow the network's dimensions: exchanges are taken for all with all",
                          false});
  }
  return quantities;
}

Quantities evaluate_equations(const FftChoices& choices, const Case& at) {
  const std::int64_t nodes = at.integer("nodes");
  const auto [nx, ny, nz] = size_of(at);
  const double n = std::cbrt(static_cast<double>(nx) * static_cast<double>(ny) * static_cast<double>(nz));
  model::MemoryReading reading = *choices.equations;
  if (reading.is_capped && at.machine.node.fft_cache_constant) {
    reading.cache_constant = *at.machine.node.fft_cache_constant;
  }
  const auto times_on = [&](const machine::Machine& machine) {
    const machine::Node& node = machine.node;
    return model::exascale_times({.peak_flops = static_cast<double>(nodes) * node.peak_flops,
                                  .node_flops = node.peak_flops,
                                  .memory_bytes_per_s = node.memory_bandwidth_bytes_per_s,
                                  .cache_bytes = static_cast<double>(node.cache_bytes),
                                  .link_bytes_per_s = machine.network ? machine.network->link_bandwidth_bytes_per_s : 0,
                                  .bus_bytes_per_s = node.bus_bandwidth_bytes_per_s.value_or(0)},
                                 n, reading, choices.network);
  };
  model::require_network(at.machine, nodes);
  const auto total_s = [&](const model::ExascaleTimes& times) {
    const double network_s = nodes > 1 ? times.network_s : 0;
    return choices.run.overlaps ? std::max({times.flops_s, times.memory_s, network_s, times.shuffle_s + times.bus_s})
                                : std::max(times.flops_s, times.memory_s) + network_s + times.shuffle_s + times.bus_s;
  };
  const model::ExascaleTimes times = times_on(at.machine);
  Quantities quantities = {{"nodes", "nodes", Unit::number, static_cast<double>(nodes)},
                           {"time_s", "time", Unit::seconds, total_s(times)},
                           {"rate_flops", "rate", Unit::flops_per_s, rate_of(model::exascale_flops(n), total_s(times))},
                           {"flops_s", "T_flops", Unit::seconds, times.flops_s},
                           {"memory_s", "T_mem", Unit::seconds, times.memory_s},
                           {"network_s", "T_net", Unit::seconds, nodes > 1 ? times.network_s : 0},
                           {"shuffle_s", "T_shuffle", Unit::seconds, times.shuffle_s},
                           {"bus_s", "T_PCIe", Unit::seconds, times.bus_s}};
  return quantities;
}

void add_choices(OptionedStudy& all, const std::shared_ptr<FftChoices>& choices) {
  const auto study = all.study;
  all.add_size();
  all.add_value("--grid", "TYxTZ|auto", "Ranks in y and z; auto: of the shortest time (auto)",
                [choices](const std::string& text) {
                  const auto [ty, tz] = parse_grid("--grid", text);
                  choices->run.ty = ty;
                  choices->run.tz = tz;
                });
  all.add_value("--planes-per-message", "packed|slabs|N", "Planes that share a message: all, one, or N (packed)",
                [study](const std::string& text) {
                  study->numbers["planes_per_message"] =
                      text == "packed"  ? 0
                      : text == "slabs" ? 1
                                        : static_cast<double>(parse_integer("--planes-per-message", text, 1));
                },
                {"planes_per_message"});
  all.add_value("--transport", "NAME", "Of the machine's transports (its first)",
                [choices](const std::string& text) { choices->run.transport = text; });
  all.add_value("--order", "nodes|cores",
                "Whether ranks are numbered over all nodes first, or over a node's cores (nodes on meshes and tori)",
                [choices](const std::string& text) {
                  choices->has_order = true;
                  choices->run.order = parse_rank_order("--order", text);
                });
  all.add_value("--placement", "alone|shared",
                "Nodes side by side on idle links, or all over a machine that others load as much (alone)",
                [choices](const std::string& text) {
                  using model::Placement;
                  choices->run.placement = parse_choice<Placement>(
                      "--placement", text, {{"alone", Placement::alone}, {"shared", Placement::shared}});
                });
  all.add_value("--type", "c2c|r2c", "Complex or real fields (c2c)", [choices](const std::string& text) {
    choices->run.fft.is_real = parse_choice<bool>("--type", text, {{"c2c", false}, {"r2c", true}});
  });
  all.add_value("--precision", "double|single", "Of a number (double)", [choices](const std::string& text) {
    choices->run.fft.real_bytes = parse_choice<std::int64_t>("--precision", text, {{"double", 8}, {"single", 4}});
  });
  all.add_value(
      "--bus", "stages|exchanges|none",
      "What crosses the bus of accelerators: the field for each stage; what ranks exchange, staged through the "
      "host; or nothing, as the network reads their memory (stages)",
      [choices](const std::string& text) {
        using model::BusTraffic;
        choices->run.bus = parse_choice<BusTraffic>(
            "--bus", text,
            {{"stages", BusTraffic::stages}, {"exchanges", BusTraffic::exchanges}, {"none", BusTraffic::none}});
      });
  all.add_flag("--no-overlap", "No transfer goes on while a processor computes",
               [choices] { choices->run.overlaps = false; });
  all.add_flag(
      "--ordinary-stores",
      "Stores read the line that they write, as those of most programs do: three fields for each pass, not two",
      [choices] { choices->run.stores_bypass_cache = false; });
  all.add_value("--equations", "printed|uncapped", "By the equations of Czechowski et al. 2012 instead, T_mem read so",
                [choices](const std::string& text) {
                  choices->equations = parse_choice<model::MemoryReading>(
                      "--equations", text,
                      {{"printed", model::MemoryReading::printed()}, {"uncapped", model::MemoryReading::uncapped()}});
                });
  all.add_value(
      "--network", "full|ideal|bisection", "Of these equations: 3, 4 or 5 (bisection, of the torus' dimensions)",
      [choices](const std::string& text) {
        using Kind = model::ExascaleNetwork::Kind;
        choices->network.kind = parse_choice<Kind>(
            "--network", text, {{"full", Kind::full}, {"ideal", Kind::ideal}, {"bisection", Kind::bisection}});
      });
}

}  // namespace

OptionedStudy fft_study() {
  Study described;
  described.name = "fft";
  described.numbers = {{"n", 0},
                       {"nx", 256},
                       {"ny", 256},
                       {"nz", 256},
                       {"nodes", 1},
                       {"ranks_per_node", 1},
                       {"planes_per_message", 0},
                       {"copies_per_exchange", 0}};
  described.parts = {"transfer_s", "compute_s"};
  described.plotted = {"time_s", "compute_s", "transfer_s", "hidden_s", "flops_s", "memory_s", "network_s"};
  auto choices = std::make_shared<FftChoices>();
  OptionedStudy all = with_options(std::move(described));
  add_choices(all, choices);
  all.add_number("--nodes", "Nodes", "nodes", 1);
  all.add_number("--ranks-per-node", "Ranks on each node, all cores of which work", "ranks_per_node", 1);
  all.add_number("--copies", "Copies of the field beside each exchange: 2 for packing and unpacking",
                 "copies_per_exchange", 0);
  all.study->evaluate = [choices](const Case& at) {
    return choices->equations ? evaluate_equations(*choices, at) : evaluate_run(*choices, at);
  };
  return all;
}

}  // namespace penstock::study

// A machine in another year by the trends of the exascale paper, and CPU-like machines in
// place of a GPU-like one.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "penstock/base/base.hpp"
#include "penstock/base/parse.hpp"
#include "penstock/study/study.hpp"

namespace penstock::study {
namespace {

struct ProjectChoices {
  std::string against;  ///< the GPU-like machine; empty: none
  model::MemoryReading reading = model::MemoryReading::printed();
  bool is_growing = false;  ///< whether n^3 grows like the nodes
};

/// As the paper counts machines: all nodes, each of one processor.
model::ExascaleMachine exascale_machine(const machine::Machine& machine) {
  if (!machine.network) {
    throw Error(fmt::format("{} has no network to project a transform on: give --machine", machine.name));
  }
  return {.peak_flops = static_cast<double>(machine.count) * machine.node.peak_flops,
          .node_flops = machine.node.peak_flops,
          .memory_bytes_per_s = machine.node.memory_bandwidth_bytes_per_s,
          .cache_bytes = static_cast<double>(machine.node.cache_bytes),
          .link_bytes_per_s = machine.network->link_bandwidth_bytes_per_s,
          .bus_bytes_per_s = machine.node.bus_bandwidth_bytes_per_s.value_or(0)};
}

/// The points in each direction in the year of `later`.
double points_of(const ProjectChoices& choices, const Case& at, const machine::Machine& later) {
  const double growth = static_cast<double>(later.count) / static_cast<double>(at.machine.count);
  return at.number("n") * (choices.is_growing ? std::cbrt(growth) : 1);
}

Quantities evaluate_year(const ProjectChoices& choices, const Case& at) {
  const machine::Machine later = model::project(at.machine, at.integer("year"));
  const machine::Node& node = later.node;
  const double n = points_of(choices, at, later);
  Quantities quantities = {
      {"year", "year", Unit::number, at.number("year")},
      {"count", "nodes", Unit::number, static_cast<double>(later.count)},
      {"machine_peak_flops", "peak", Unit::flops_per_s, static_cast<double>(later.count) * node.peak_flops},
      {"node_peak_flops", "of a node", Unit::flops_per_s, node.peak_flops},
      {"cores", "cores", Unit::number, static_cast<double>(node.cores)},
      {"memory_bandwidth_bytes_per_s", "memory", Unit::bytes_per_s, node.memory_bandwidth_bytes_per_s},
      {"cache_bytes", "cache", Unit::bytes, static_cast<double>(node.cache_bytes)},
      {"line_bytes", "line", Unit::bytes, static_cast<double>(node.line_bytes), {}, false},
  };
  if (later.network) {
    using Network = model::ExascaleNetwork;
    const auto times_on = [&](const Network& network) {
      return model::exascale_times(exascale_machine(later), n, choices.reading, network);
    };
    const auto ratio_on = [&](const Network& network) {
      const model::ExascaleTimes times = times_on(network);
      return rate_of(times.memory_s, times.network_s);
    };
    const model::ExascaleTimes times = times_on({});
    const double time_s = times.memory_s + times.network_s;
    quantities.insert(
        quantities.end(),
        {{"link_bandwidth_bytes_per_s", "link", Unit::bytes_per_s, later.network->link_bandwidth_bytes_per_s},
         {"memory_s", "T_mem", Unit::seconds, times.memory_s},
         {"network_s", "T_net", Unit::seconds, times.network_s},
         {"time_s", "FFT", Unit::seconds, time_s},
         {"rate_flops", "its rate", Unit::flops_per_s, rate_of(model::exascale_flops(n), time_s)},
         {"fft_n", "its n", Unit::number, n, {}, false},
         {"ratio_torus", "T_mem / T_net", Unit::number, ratio_on({}), {}, false},
         {"ratio_ideal", "  with the ideal mapping", Unit::number, ratio_on({.kind = Network::Kind::ideal}), {}, false},
         {"ratio_torus_4", "  on a 4-D torus", Unit::number, ratio_on({.dimensions = 4}), {}, false},
         {"ratio_torus_5", "  on a 5-D torus", Unit::number, ratio_on({.dimensions = 5}), {}, false}});
  }
  return quantities;
}

/// CPU-1, CPU-2 and CPU-3 beside the GPU-like machine (section 6, Figure 5).
OtherAnswer answer_lanes(const Study& projected, const StudyOptions& options, const ProjectChoices& choices) {
  if (options.sweep) {
    throw Error("--against compares the machines of one year: give it without --sweep and --plot");
  }
  const Case at = make_case(projected, options);
  const std::int64_t year = at.integer("year");
  const machine::Machine cpu = model::project(at.machine, year);
  const machine::Machine gpu = model::project(machine::find(choices.against), year);
  const double n = points_of(choices, at, cpu);
  const auto lanes_of = [&](const machine::Machine& machine) {
    return model::swim_lanes(exascale_machine(gpu), exascale_machine(model::project(machine, year)), n,
                             choices.reading);
  };
  Study compared = projected;
  compared.evaluate = [&](const Case& changed) {
    Quantities quantities;
    for (const model::SwimLane& lane : lanes_of(changed.machine)) {
      for (const double value : {lane.nodes, lane.peak_flops, lane.memory_s, lane.network_s}) {
        quantities.push_back({.key = std::string(lane.name), .name = "", .value = value});
      }
    }
    return quantities;
  };
  refuse_unread(compared, options, {{.at = at, .swept = 0, .quantities = compared.evaluate(at)}});
  const std::string schema = "model-project-against";
  nlohmann::ordered_json json{{"schema", schema}, {"model", "project"}, {"cpu", cpu.name}, {"gpu", gpu.name}, {"n", n}};
  std::string text = fmt::format(
      "CPU: {}\nGPU: {}\nFFT of {:.0f}^3 points, eq. 2 as {}\n\n{:8}{:>12}{:>16}{:>11}{:>11}{:>14}{:>14}\n", cpu.name,
      gpu.name, n, choices.reading.name, "", "nodes", "peak EFlop/s", "T_mem", "T_net", "T_mem + T_net", "the larger");
  for (const model::SwimLane& lane : lanes_of(at.machine)) {
    text += fmt::format("{:8}{:>12.0f}{:>16.3f}{:>11}{:>11}{:>14}{:>14}\n", lane.name, lane.nodes,
                        lane.peak_flops / 1e18, format_seconds(lane.memory_s), format_seconds(lane.network_s),
                        format_seconds(lane.memory_s + lane.network_s),
                        format_seconds(std::max(lane.memory_s, lane.network_s)));
    json["lanes"].push_back({{"name", lane.name},
                             {"nodes", lane.nodes},
                             {"peak_flops", lane.peak_flops},
                             {"memory_s", lane.memory_s},
                             {"network_s", lane.network_s}});
  }
  return {.schema = schema, .json = json.dump(2) + "\n", .text = std::move(text)};
}

}  // namespace

OptionedStudy project_study() {
  Study described;
  described.name = "project";
  described.numbers = {{"year", 2020}, {"n", 21000}};
  described.plotted = {"memory_s", "network_s", "time_s"};
  auto choices = std::make_shared<ProjectChoices>();
  OptionedStudy all = with_options(std::move(described));
  all.add_number("--year", "The year to project to", "year", 1);
  all.add_number("--n", "Points in each direction of the FFT", "n", 2);
  all.add_value("--against", "NAME|FILE",
                "A GPU-like machine: find the machines of --machine's nodes with its peak, and with its time (none)",
                [choices](const std::string& text) { choices->against = text; });
  all.add_value("--equations", "printed|uncapped", "How T_mem is read (printed)", [choices](const std::string& text) {
    choices->reading = parse_choice<model::MemoryReading>(
        "--equations", text,
        {{"printed", model::MemoryReading::printed()}, {"uncapped", model::MemoryReading::uncapped()}});
  });
  all.add_flag("--growing", "n^3 grows like the nodes, from --n in the machine's own year",
               [choices] { choices->is_growing = true; });
  all.study->evaluate = [choices](const Case& at) { return evaluate_year(*choices, at); };
  all.other = [choices, study = all.study, asked = all.asked]() -> std::optional<OtherAnswer> {
    return choices->against.empty() ? std::nullopt : std::optional(answer_lanes(*study, *asked, *choices));
  };
  return all;
}

}  // namespace penstock::study

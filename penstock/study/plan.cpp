// `penstock model plan`: a transform as this library's plans run it.
#include <fmt/format.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "penstock/base/base.hpp"
#include "penstock/base/parse.hpp"
#include "penstock/study/study.hpp"

namespace penstock::study {
namespace {

using model::PlannedFft;
using model::PlannedFftTime;

/// What numbers cannot say.
struct PlanChoices {
  PlannedFft run;
  bool has_grid = false;
};

PlannedFft run_of(const PlanChoices& choices, const Case& at) {
  PlannedFft run = choices.run;
  run.fft.size = {at.integer("nx"), at.integer("ny"), at.integer("nz")};
  run.fft.fields = at.integer("batch");
  run.nodes = at.integer("nodes");
  run.ranks_per_node = at.integer("ranks_per_node");
  run.threads = at.integer("threads");
  run.tuning.planes_per_message = at.integer("planes_per_message");
  run.tuning.deferred_parts = at.integer("deferred_parts");
  if (!choices.has_grid) {
    run.tuning.grid = {1, static_cast<int>(run.nodes * run.ranks_per_node)};
  }
  return run;
}

Quantities evaluate_plan(const PlanChoices& choices, const Case& at) {
  const PlannedFft run = run_of(choices, at);
  const PlannedFftTime time = model::planned_fft_time(at.machine, run);
  return {{"nodes", "nodes", Unit::number, static_cast<double>(run.nodes)},
          {"grid", "grid", Unit::text, 0, fmt::format("{}x{}", run.tuning.grid.ty, run.tuning.grid.tz)},
          {"time_s", "time", Unit::seconds, time.total_s},
          {"rate_flops", "rate", Unit::flops_per_s, rate_of(model::fft_flops(run.fft), time.total_s)},
          {"transform_s", "transforms", Unit::seconds, time.transform_s},
          {"move_s", "gathering, scattering", Unit::seconds, time.move_s},
          {"start_s", "start", Unit::seconds, time.start_s},
          {"overhead_s", "overhead of messages", Unit::seconds, time.overhead_s},
          {"transfer_s", "transfers", Unit::seconds, time.transfer_s},
          {"hidden_s", "hidden", Unit::seconds, time.hidden_s}};
}

}  // namespace

OptionedStudy plan_study() {
  Study described;
  described.name = "plan";
  described.numbers = {{"nx", 256},           {"ny", 256},    {"nz", 256},  {"nodes", 1},
                       {"ranks_per_node", 1}, {"threads", 1}, {"batch", 1}, {"planes_per_message", 0},
                       {"deferred_parts", 0}};
  described.parts = {"transfer_s", "transform_s", "move_s", "start_s", "overhead_s"};
  described.plotted = {"time_s", "transform_s", "move_s", "transfer_s", "hidden_s"};
  auto choices = std::make_shared<PlanChoices>();
  OptionedStudy all = with_options(std::move(described));
  all.add_size();
  all.add_number("--nodes", "Nodes", "nodes", 1);
  all.add_number("--ranks-per-node", "Ranks on each node", "ranks_per_node", 1);
  all.add_number("--threads", "Threads of each rank", "threads", 1);
  all.add_number("--batch", "Fields transformed per call", "batch", 1);
  all.add_value("--grid", "TYxTZ|auto", "Ranks in y and z (all in z)", [choices](const std::string& text) {
    const auto [ty, tz] = parse_grid("--grid", text);
    choices->run.tuning.grid = {ty, tz};
    choices->has_grid = choices->run.tuning.grid.ty > 0;
  });
  all.add_number("--planes-per-message", "Planes that share a message; 0: all", "planes_per_message", 0);
  all.add_number("--deferred-parts", "Eighths of what a rank receives that are sent last", "deferred_parts", 0);
  all.add_value("--type", "c2c|r2c", "Complex or real fields (c2c)", [choices](const std::string& text) {
    choices->run.fft.is_real = parse_choice<bool>("--type", text, {{"c2c", false}, {"r2c", true}});
  });
  all.add_value("--precision", "double|single", "Of a number (double)", [choices](const std::string& text) {
    choices->run.fft.real_bytes = parse_choice<std::int64_t>("--precision", text, {{"double", 8}, {"single", 4}});
  });
  all.add_value("--layout", "transposed|as-input", "The spectrum's distribution (transposed)",
                [choices](const std::string& text) {
                  choices->run.is_output_as_input =
                      parse_choice<bool>("--layout", text, {{"transposed", false}, {"as-input", true}});
                });
  all.add_value(
      "--passes", "joined|separate", "Whether x and y share a pass over memory, joined by a plane in cache (separate)",
      [choices](const std::string& text) {
        choices->run.is_plane_in_cache = parse_choice<bool>("--passes", text, {{"joined", true}, {"separate", false}});
      });
  all.add_value("--transport", "NAME",
                "Of the machine's transports, between ranks of a node as well (memory within a node, and the first)",
                [choices](const std::string& text) {
                  choices->run.transport = text;
                  choices->run.is_node_shared = false;
                });
  all.study->evaluate = [choices](const Case& at) { return evaluate_plan(*choices, at); };
  return all;
}

}  // namespace penstock::study

// `penstock model plan`: a transform as this library's plans run it.
#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include "penstock/base/base.hpp"
#include "penstock/cli/core/parse.hpp"
#include "penstock/cli/model/model.hpp"
#include "penstock/cli/model/study.hpp"
#include "penstock/model/model.hpp"

namespace penstock::cli {
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

Body declare_model_plan(CLI::App& app) {
  auto study = std::make_shared<Study>();
  study->name = "plan";
  study->numbers = {{"nx", 256},           {"ny", 256},    {"nz", 256},  {"nodes", 1},
                    {"ranks_per_node", 1}, {"threads", 1}, {"batch", 1}, {"planes_per_message", 0},
                    {"deferred_parts", 0}};
  study->plotted = {"time_s", "transform_s", "move_s", "transfer_s", "hidden_s"};
  auto choices = std::make_shared<PlanChoices>();
  auto options = declare_study(app, true);
  add_value(app, "--size", "NXxNYxNZ", "Points of the field (256x256x256)", [study](const std::string& text) {
    const fft::Extents size = parse_size("--size", text);
    study->numbers["nx"] = static_cast<double>(size[0]);
    study->numbers["ny"] = static_cast<double>(size[1]);
    study->numbers["nz"] = static_cast<double>(size[2]);
  });
  add_number(app, "--nodes", "Nodes", study, "nodes", 1);
  add_number(app, "--ranks-per-node", "Ranks on each node", study, "ranks_per_node", 1);
  add_number(app, "--threads", "Threads of each rank", study, "threads", 1);
  add_number(app, "--batch", "Fields transformed per call", study, "batch", 1);
  add_value(app, "--grid", "TYxTZ|auto", "Ranks in y and z (all in z)", [choices](const std::string& text) {
    choices->run.tuning.grid = parse_grid("--grid", text);
    choices->has_grid = choices->run.tuning.grid.ty > 0;
  });
  add_number(app, "--planes-per-message", "Planes that share a message; 0: all", study, "planes_per_message", 0);
  add_number(app, "--deferred-parts", "Eighths of what a rank receives that are sent last", study, "deferred_parts", 0);
  add_value(app, "--type", "c2c|r2c", "Complex or real fields (c2c)", [choices](const std::string& text) {
    choices->run.fft.is_real = parse_choice<bool>("--type", text, {{"c2c", false}, {"r2c", true}});
  });
  add_value(app, "--precision", "double|single", "Of a number (double)", [choices](const std::string& text) {
    choices->run.fft.real_bytes = parse_choice<std::int64_t>("--precision", text, {{"double", 8}, {"single", 4}});
  });
  add_value(app, "--layout", "transposed|as-input", "The spectrum's distribution (transposed)",
            [choices](const std::string& text) {
              choices->run.is_output_as_input =
                  parse_choice<bool>("--layout", text, {{"transposed", false}, {"as-input", true}});
            });
  add_value(
      app, "--passes", "joined|separate",
      "Whether x and y share a pass over memory, joined by a plane in cache (separate)",
      [choices](const std::string& text) {
        choices->run.is_plane_in_cache = parse_choice<bool>("--passes", text, {{"joined", true}, {"separate", false}});
      });
  add_value(app, "--transport", "NAME",
            "Of the machine's transports, between ranks of a node as well (memory within a node, and the first)",
            [choices](const std::string& text) {
              choices->run.transport = text;
              choices->run.is_node_shared = false;
            });
  return [=](Session& session) {
    study->evaluate = [choices](const Case& at) { return evaluate_plan(*choices, at); };
    run_study(session, *study, *options);
  };
}

}  // namespace penstock::cli

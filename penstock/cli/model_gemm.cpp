// `penstock model gemm`: matrix multiplies over nodes, out of core, and on the HTMT.
#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <cmath>

#include "penstock/base/base.hpp"
#include "penstock/cli/model.hpp"
#include "penstock/cli/parse.hpp"
#include "penstock/cli/study.hpp"

namespace penstock::cli {
namespace {

enum class Way { cannon, out_of_core, htmt };

struct GemmChoices {
  Way way = Way::cannon;
  std::string transport;
  std::string outer = "storage";
  std::string inner = "memory";
  bool overlaps = true;
};

Figures evaluate_cannon(const GemmChoices& choices, const Case& at) {
  const model::CannonRun run{.n = at.number("n"),
                             .nodes = at.integer("nodes"),
                             .word_bytes = at.integer("word_bytes"),
                             .transport = choices.transport,
                             .overlaps = choices.overlaps};
  const model::CannonTime time = model::cannon_time(at.machine, run);
  Figures figures = {{"n", "n", Unit::number, run.n},
                     {"nodes", "nodes", Unit::number, static_cast<double>(run.nodes)},
                     {"time_s", "time", Unit::seconds, time.total_s},
                     {"rate_flops", "rate", Unit::flops_per_s, model::gemm_flops(run.n) / time.total_s},
                     {"multiply_s", "multiplies", Unit::seconds, time.multiply_s},
                     {"shift_s", "shifts", Unit::seconds, time.shift_s},
                     {"hidden_s", "hidden", Unit::seconds, time.hidden_s},
                     {"block_bytes", "block", Unit::bytes, time.block_bytes}};
  return figures;
}

Figures evaluate_out_of_core(const GemmChoices& choices, const Case& at) {
  const model::OutOfCoreRun run{.n = at.number("n"),
                                .word_bytes = at.integer("word_bytes"),
                                .outer = choices.outer,
                                .inner = choices.inner,
                                .budget_bytes = at.number("budget_bytes"),
                                .overlaps = choices.overlaps};
  const model::OutOfCoreTime time = model::out_of_core_time(at.machine, run);
  Figures figures = {{"n", "n", Unit::number, run.n},
                     {"time_s", "time", Unit::seconds, time.total_s},
                     {"rate_flops", "rate", Unit::flops_per_s, model::gemm_flops(run.n) / time.total_s},
                     {"multiply_s", "multiplies", Unit::seconds, time.multiply_s},
                     {"move_s", "percolation", Unit::seconds, time.move_s},
                     {"block", "words in a block's row", Unit::number, time.block},
                     {"moved_bytes", "moved", Unit::bytes, time.moved_bytes},
                     {"least_bytes", "the least there is", Unit::bytes, time.least_bytes}};
  return figures;
}

/// A level's time for a word of 8 bytes.
double word_s(const machine::Machine& machine, const std::string& name) {
  for (const machine::MemoryLevel& level : machine.node.memory_levels) {
    if (level.name == name) {
      return 8 / level.bandwidth_bytes_per_s;
    }
  }
  throw Error(
      fmt::format("{} describes no memory level '{}': give --machine htmt-2007 or one like it", machine.name, name));
}

model::Htmt htmt_of(const machine::Machine& machine, const Case& at) {
  if (!machine.network) {
    throw Error(fmt::format("{} has no network: give --machine htmt-2007 or one like it", machine.name));
  }
  const auto units = static_cast<double>(machine.node.cores);
  return {.q = at.number("q"),
          .s = std::sqrt(static_cast<double>(machine.count)),
          .t = at.number("t"),
          .b_c = at.number("b_c"),
          .dram_word_s = word_s(machine, "DRAM"),
          .sram_word_s = word_s(machine, "SRAM"),
          .fpu_cycle_s = units / machine.node.peak_flops,
          .fpus_per_spell = units,
          .cnet_words_per_s = machine.network->link_bandwidth_bytes_per_s / 8};
}

Figures evaluate_htmt(const Case& at) {
  const auto time_s = [&](const machine::Machine& machine) { return model::htmt_equation_5_s(htmt_of(machine, at)); };
  const model::Htmt htmt = htmt_of(at.machine, at);
  const model::HtmtTimes times = model::htmt_times(htmt);
  Figures figures = {{"n", "edge q M", Unit::number, htmt.edge()},
                     {"time_s", "time (eq. 5)", Unit::seconds, time_s(at.machine)},
                     {"rate_flops", "rate", Unit::flops_per_s, htmt.flops() / time_s(at.machine)},
                     {"peak_flops", "peak", Unit::flops_per_s, htmt.peak_flops()},
                     {"equation_4_s", "eq. 4", Unit::seconds, model::htmt_equation_4_s(htmt)},
                     {"transformation_s", "D_t", Unit::seconds, times.transformation_s},
                     {"multiply_s", "M_S", Unit::seconds, times.multiply_s},
                     {"shift_s", "D_S", Unit::seconds, times.shift_s},
                     {"sram_to_cram_s", "IP_SC", Unit::seconds, times.sram_to_cram_s},
                     {"dram_to_sram_s", "IP_DS", Unit::seconds, times.dram_to_sram_s}};
  return figures;
}

}  // namespace

Body declare_model_gemm(CLI::App& app) {
  auto study = std::make_shared<Study>();
  study->name = "gemm";
  study->numbers = {{"n", 16384}, {"nodes", 1}, {"word_bytes", 8}, {"budget_bytes", 0},
                    {"q", 1},     {"t", 26},    {"b_c", 125}};
  study->plotted = {"time_s", "multiply_s", "shift_s", "move_s"};
  auto choices = std::make_shared<GemmChoices>();
  auto options = declare_study(app, true);
  add_value(app, "--way", "cannon|out-of-core|htmt",
            "Cannon's algorithm over nodes, one node with the matrices in an outer level, or percolation on the HTMT "
            "(cannon)",
            [choices](const std::string& text) {
              choices->way = parse_choice<Way>(
                  "--way", text, {{"cannon", Way::cannon}, {"out-of-core", Way::out_of_core}, {"htmt", Way::htmt}});
            });
  add_number(app, "--n", "Words in a row of the matrices; --way htmt has q t s b_c", study, "n", 1);
  add_number(app, "--nodes", "Nodes, a square number", study, "nodes", 1);
  add_value(
      app, "--memory", "BYTES", "What out-of-core multiplies may use of the inner level, as 8GiB (all of it)",
      [study](const std::string& text) { study->numbers["budget_bytes"] = static_cast<double>(parse_bytes(text)); });
  add_value(app, "--outer", "LEVEL", "The memory level of the matrices (storage)",
            [choices](const std::string& text) { choices->outer = text; });
  add_value(app, "--inner", "LEVEL", "The memory level of the blocks (memory)",
            [choices](const std::string& text) { choices->inner = text; });
  add_value(app, "--transport", "NAME", "Of the machine's transports (its first)",
            [choices](const std::string& text) { choices->transport = text; });
  app.add_flag_callback(
      "--no-overlap", [choices] { choices->overlaps = false; }, "No block moves while others are multiplied");
  return [=](Session& session) {
    study->evaluate = [choices](const Case& at) {
      return choices->way == Way::cannon        ? evaluate_cannon(*choices, at)
             : choices->way == Way::out_of_core ? evaluate_out_of_core(*choices, at)
                                                : evaluate_htmt(at);
    };
    run_study(session, *study, *options);
  };
}

}  // namespace penstock::cli

// `penstock model gemm`: matrix multiplies over nodes and out of core, by the formulas by which `penstock gemm` chooses
// and predicts, and on the HTMT.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/base/parse.hpp"
#include "penstock/shape/shape.hpp"
#include "penstock/study/study.hpp"

namespace penstock::study {
namespace {

enum class Setting { nodes, out_of_core, htmt };

struct GemmChoices {
  Setting way = Setting::nodes;
  std::string transport;
  std::string outer = "storage";
  std::string inner = "memory";
  bool overlaps = true;
  bool may_layer = true;
};

std::int64_t words_of_row(const Case& at) {
  const std::int64_t n = at.integer("n");
  if (n < 1) {
    throw Error(fmt::format("{} words in a row of the matrices are none: give 1 or more", n));
  }
  return n;
}

struct TimedRun {
  model::ShiftedRun run;
  model::ShiftedTime time;
};

/// The shortest run with all nodes in one layer, as global arrays are laid out, or in layers, with panels of all
/// depths.
TimedRun shortest_run(const GemmChoices& choices, const Case& at, std::int64_t nodes) {
  const std::int64_t n = words_of_row(at);
  const model::ShiftedRun all{.m = at.number("n"),
                              .n = at.number("n"),
                              .k = at.number("n"),
                              .word_bytes = at.integer("word_bytes"),
                              .flops = model::gemm_flops(at.number("n")),
                              .transport = choices.transport,
                              .overlaps = choices.overlaps};
  const std::vector<int> flat = shape::even_grid(std::array{n, n}, static_cast<int>(nodes));
  std::vector<std::array<int, 3>> grids{{1, flat[0], flat[1]}};
  if (choices.may_layer) {
    std::ranges::copy(model::layered_grids(static_cast<int>(nodes)), std::back_inserter(grids));
  }
  std::vector<model::ShiftedRun> runs;
  std::vector<model::ShiftedTime> times;
  for (const auto& [layers, rows, columns] : grids) {
    for (const std::int64_t depth : model::panel_depths) {
      runs.push_back(all);
      runs.back().layers = layers;
      runs.back().rows = rows;
      runs.back().columns = columns;
      runs.back().depth = static_cast<double>(depth);
      times.push_back(model::shifted_time(at.machine, runs.back()));
    }
  }
  const double memory = at.number("budget_bytes");
  const std::size_t best = model::shortest(times, memory > 0 ? memory : std::numeric_limits<double>::infinity());
  return {runs[best], times[best]};
}

Quantities evaluate_nodes(const GemmChoices& choices, const Case& at) {
  const std::int64_t nodes = at.integer("nodes");
  constexpr std::int64_t max_nodes = 1 << 24;
  if (nodes < 1 || nodes > max_nodes) {
    throw Error(fmt::format("{} nodes: give from 1 to {}", nodes, max_nodes));
  }
  const auto [run, time] = shortest_run(choices, at, nodes);
  const double alone_s = shortest_run(choices, at, 1).time.total_s;
  return {{"n", "n", Unit::number, run.n},
          {"nodes", "nodes", Unit::number, static_cast<double>(nodes)},
          {"time_s", "time", Unit::seconds, time.total_s},
          {"rate_flops", "rate", Unit::flops_per_s, rate_of(run.flops, time.total_s)},
          {"efficiency", "efficiency", Unit::number, rate_of(alone_s, static_cast<double>(nodes) * time.total_s)},
          {"multiply_s", "multiplies", Unit::seconds, time.multiply_s},
          {"shift_s", "panels on their way", Unit::seconds, time.shift_s},
          {"hidden_s", "hidden", Unit::seconds, time.hidden_s},
          {"sum_s", "sums over layers", Unit::seconds, time.sum_s},
          {"layers", "layers", Unit::number, static_cast<double>(run.layers)},
          {"rows", "rows", Unit::number, static_cast<double>(run.rows)},
          {"columns", "columns", Unit::number, static_cast<double>(run.columns)},
          {"panel_depth", "panels' depth", Unit::number, run.depth},
          {"memory_bytes", "memory of a node", Unit::bytes, time.memory_bytes}};
}

/// What of a level's capacity blocks may take.
double capacity_of(const machine::Machine& machine, const std::string& name) {
  for (const machine::MemoryLevel& level : machine.node.memory_levels) {
    if (level.name == name) {
      return static_cast<double>(level.capacity_bytes);
    }
  }
  throw Error(fmt::format("{} describes no memory level '{}': give --memory", machine.name, name));
}

Quantities evaluate_out_of_core(const GemmChoices& choices, const Case& at) {
  const std::int64_t n = words_of_row(at);
  const model::Product product{.m = n, .n = n, .k = n, .element_bytes = at.integer("word_bytes")};
  const auto threads = static_cast<int>(at.machine.node.cores);
  const double budget =
      at.number("budget_bytes") > 0 ? at.number("budget_bytes") : capacity_of(at.machine, choices.inner);
  const model::Tiling tiling =
      model::choose_tiling(product, model::usual_tiling_rates(threads), static_cast<std::int64_t>(budget), 0);
  const model::TiledRun run{.product = product,
                            .tiling = tiling,
                            .flops = model::gemm_flops(at.number("n")),
                            .outer = choices.outer,
                            .budget_bytes = budget,
                            .overlaps = choices.overlaps,
                            .keeps_a = tiling.tile_n < n,
                            .keeps_b = tiling.tile_m < n};
  const model::TiledTime time = model::tiled_time(at.machine, run);
  return {{"n", "n", Unit::number, at.number("n")},
          {"time_s", "time", Unit::seconds, time.total_s},
          {"rate_flops", "rate", Unit::flops_per_s, rate_of(run.flops, time.total_s)},
          {"multiply_s", "multiplies", Unit::seconds, time.multiply_s},
          {"move_s", "percolation", Unit::seconds, time.move_s},
          {"tile_m", "rows of a tile", Unit::number, static_cast<double>(tiling.tile_m)},
          {"tile_n", "columns of a tile", Unit::number, static_cast<double>(tiling.tile_n)},
          {"depth", "panels' depth", Unit::number, static_cast<double>(tiling.depth)},
          {"moved_bytes", "moved", Unit::bytes, time.moved_bytes},
          {"min_bytes", "the least there is", Unit::bytes, time.min_bytes}};
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

Quantities evaluate_htmt(const Case& at) {
  const auto time_s = [&](const machine::Machine& machine) { return model::htmt_equation_5_s(htmt_of(machine, at)); };
  const model::Htmt htmt = htmt_of(at.machine, at);
  const model::HtmtTimes times = model::htmt_times(htmt);
  Quantities quantities = {{"n", "edge q M", Unit::number, htmt.edge()},
                           {"time_s", "time (eq. 5)", Unit::seconds, time_s(at.machine)},
                           {"rate_flops", "rate", Unit::flops_per_s, rate_of(htmt.flops(), time_s(at.machine))},
                           {"peak_flops", "peak", Unit::flops_per_s, htmt.peak_flops()},
                           {"equation_4_s", "eq. 4", Unit::seconds, model::htmt_equation_4_s(htmt)},
                           {"transformation_s", "D_t", Unit::seconds, times.transformation_s},
                           {"multiply_s", "M_S", Unit::seconds, times.multiply_s},
                           {"shift_s", "D_S", Unit::seconds, times.shift_s},
                           {"sram_to_cram_s", "IP_SC", Unit::seconds, times.sram_to_cram_s},
                           {"dram_to_sram_s", "IP_DS", Unit::seconds, times.dram_to_sram_s}};
  return quantities;
}

}  // namespace

OptionedStudy gemm_study() {
  Study described;
  described.name = "gemm";
  described.numbers = {{"n", 16384}, {"nodes", 1}, {"word_bytes", 8}, {"budget_bytes", 0},
                       {"q", 1},     {"t", 26},    {"b_c", 125}};
  described.parts = {"shift_s", "multiply_s", "sum_s"};
  described.plotted = {"time_s", "multiply_s", "shift_s", "move_s"};
  auto choices = std::make_shared<GemmChoices>();
  OptionedStudy all = with_options(std::move(described));
  const auto study = all.study;
  all.add_value("--way", "nodes|out-of-core|htmt",
                "Cannon's algorithm over nodes, generalised and in layers as `penstock gemm` has it, one node with the "
                "matrices in an outer level, or percolation on the HTMT (nodes)",
                [choices](const std::string& text) {
                  choices->way = parse_choice<Setting>(
                      "--way", text,
                      {{"nodes", Setting::nodes}, {"out-of-core", Setting::out_of_core}, {"htmt", Setting::htmt}});
                });
  all.add_number("--n", "Words in a row of the matrices; --way htmt has q t s b_c", "n", 1);
  all.add_number("--nodes", "Nodes", "nodes", 1);
  all.add_value(
      "--memory", "BYTES",
      "What out-of-core multiplies may use of the inner level, as 8GiB (all of it), and those over nodes besides the "
      "matrices (as much as they like)",
      [study](const std::string& text) { study->numbers["budget_bytes"] = static_cast<double>(parse_bytes(text)); },
      {"budget_bytes"});
  all.add_value("--outer", "LEVEL", "The memory level of the matrices (storage)",
                [choices](const std::string& text) { choices->outer = text; });
  all.add_value("--inner", "LEVEL", "The memory level of the blocks (memory)",
                [choices](const std::string& text) { choices->inner = text; });
  all.add_value("--transport", "NAME", "Of the machine's transports (its first)",
                [choices](const std::string& text) { choices->transport = text; });
  all.add_flag("--no-layers", "All nodes in one layer, whatever it takes", [choices] { choices->may_layer = false; });
  all.add_flag("--no-overlap", "No block moves while others are multiplied", [choices] { choices->overlaps = false; });
  study->evaluate = [choices](const Case& at) {
    return choices->way == Setting::nodes         ? evaluate_nodes(*choices, at)
           : choices->way == Setting::out_of_core ? evaluate_out_of_core(*choices, at)
                                                  : evaluate_htmt(at);
  };
  return all;
}

}  // namespace penstock::study

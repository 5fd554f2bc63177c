#include "penstock/model/gemm.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/model/ping_pong.hpp"
#include "penstock/model/topology.hpp"
#include "penstock/model/transport.hpp"

namespace penstock::model {
namespace {

using machine::Machine;

double multiply_rate(const Machine& machine) {
  if (!(machine.node.gemm_rate_flops_per_core > 0)) {
    throw Error(fmt::format("the GEMM rate of {} is not known: give node.gemm_rate_flops_per_core", machine.name));
  }
  return machine.node.gemm_rate_flops_per_core * static_cast<double>(machine.node.cores);
}

void check_edge(double n) {
  if (!(n >= 1)) {
    throw Error(fmt::format("a matrix of {} words a row is none: give 1 or more", n));
  }
}

const machine::MemoryLevel& find_level(const Machine& machine, const std::string& name) {
  std::vector<std::string> known;
  for (const machine::MemoryLevel& level : machine.node.memory_levels) {
    if (level.name == name) {
      return level;
    }
    known.push_back(level.name);
  }
  throw Error(fmt::format("{} describes no memory level '{}'; it has {}", machine.name, name,
                          known.empty() ? "none" : fmt::format("{}", fmt::join(known, ", "))));
}

}  // namespace

double gemm_flops(double n) noexcept {
  return 2 * n * n * n;
}

CannonTime cannon_time(const Machine& machine, const CannonRun& run) {
  check_edge(run.n);
  const double side = std::round(std::sqrt(static_cast<double>(run.nodes)));
  if (run.nodes < 1 || side * side != static_cast<double>(run.nodes)) {
    throw Error(fmt::format("Cannon's algorithm needs a square number of nodes, and {} is none", run.nodes));
  }
  if (run.nodes > 1 && !machine.network) {
    throw Error(fmt::format("{} has no network, and {} nodes need one", machine.name, run.nodes));
  }
  CannonTime time;
  time.steps = side;
  const double edge = run.n / side;
  time.block_bytes = edge * edge * static_cast<double>(run.word_bytes);
  time.multiply_s = gemm_flops(run.n) / (multiply_rate(machine) * static_cast<double>(run.nodes));
  if (run.nodes > 1) {
    const machine::Transport transport = find_transport(machine, run.transport);
    const machine::MessagePiece& piece = piece_of(transport.pieces, time.block_bytes);
    const TopologyFacts facts = topology_facts(*machine.network, run.nodes);
    // A's block goes to the left and B's upwards; each has a link of its own where nodes have several.
    const double bandwidth = std::min({facts.injection_bytes_per_s, 2 * piece.bandwidth_bytes_per_s,
                                       2 * machine.network->link_bandwidth_bytes_per_s});
    const double overhead_s = 2 * (transport.send_overhead_s + transport.receive_overhead_s + transport.gap_s);
    const double one_shift_s = piece.latency_s + overhead_s + 2 * time.block_bytes / bandwidth;
    // The alignment before the first step, and a shift between steps, which alone has a multiply to hide behind.
    time.shift_s = side * one_shift_s;
    const double progress = run.overlaps ? transport.progress : 0;
    time.hidden_s = progress * (side - 1) * std::min(time.multiply_s / side, one_shift_s);
  }
  time.total_s = time.multiply_s + time.shift_s - time.hidden_s;
  return time;
}

ShiftedTime shifted_time(const Machine& machine, const ShiftedRun& run) {
  const auto layers = static_cast<double>(run.layers);
  const auto rows = static_cast<double>(run.rows);
  const auto columns = static_cast<double>(run.columns);
  const auto word = static_cast<double>(run.word_bytes);
  const auto ranks_per_node = static_cast<double>(run.ranks_per_node);
  const std::int64_t ranks = run.layers * run.rows * run.columns;
  const std::int64_t nodes = (ranks + run.ranks_per_node - 1) / run.ranks_per_node;
  const double tile_m = std::ceil(run.m / rows);
  const double tile_n = std::ceil(run.n / columns);
  const double part_k = run.k / layers;
  const double chunks = static_cast<double>(std::lcm(run.rows, run.columns));
  const double panels_of_a_chunk = std::max(std::ceil(part_k / chunks / run.depth), 1.0);
  const double depth = part_k / chunks / panels_of_a_chunk;
  const double rate = run.rate_flops > 0 ? run.rate_flops : multiply_rate(machine) / ranks_per_node;
  ShiftedTime time;
  time.steps = chunks * panels_of_a_chunk;
  // What a multiply spends on each panel, whatever its depth: measured with OpenBLAS 0.3.21 (0.93 of the rate of deep
  // panels at a depth of 64, 0.95 at 128, 0.98 at 256; one core of a Zen 5 server, 2026-11).
  constexpr double lost_depth = 5;
  time.multiply_s =
      run.flops * tile_m * tile_n * part_k / (run.m * run.n * run.k) / rate * (depth + lost_depth) / depth;
  // On one layer a rank has its share of its row of A and of its column of B; with layers it has what falls to it.
  const double home_a = run.layers == 1 ? 1 / columns : 1 / static_cast<double>(ranks);
  const double home_b = run.layers == 1 ? 1 / rows : 1 / static_cast<double>(ranks);
  const double of_other_nodes =
      nodes > 1 ? static_cast<double>(nodes - 1) * ranks_per_node / (static_cast<double>(ranks) - 1) : 0;
  time.received_bytes = part_k * word * (tile_m * (1 - home_a) + tile_n * (1 - home_b)) * std::min(of_other_nodes, 1.0);
  time.memory_bytes = 3 * depth * word * (tile_m + tile_n);
  const double tile_bytes = tile_m * tile_n * word;
  if (run.layers > 1) {  // a tile, and of C's blocks a copy for each layer
    time.memory_bytes += tile_bytes + layers * run.m * run.n * word / static_cast<double>(ranks);
  }
  if (nodes > 1) {
    if (!machine.network) {
      throw Error(fmt::format("{} has no network, and {} nodes need one", machine.name, nodes));
    }
    const machine::Transport transport = find_transport(machine, run.transport);
    const machine::MessagePiece& piece = piece_of(transport.pieces, depth * word * std::max(tile_m, tile_n));
    const double injection = topology_facts(*machine.network, nodes).injection_bytes_per_s / ranks_per_node;
    const double bandwidth = std::min(piece.bandwidth_bytes_per_s, injection);
    const double overhead_s =
        piece.latency_s + transport.send_overhead_s + transport.receive_overhead_s + transport.gap_s;
    time.shift_s = time.received_bytes / bandwidth + 2 * time.steps * overhead_s;
    // The multiplies look after the network every few milliseconds, so that panels travel meanwhile on any transport.
    time.hidden_s = std::min(time.multiply_s, time.shift_s * (1 - 1 / time.steps));
    if (run.layers > 1) {
      time.sum_s = tile_bytes * of_other_nodes / bandwidth + layers * overhead_s;
    }
  }
  time.total_s = time.multiply_s + time.shift_s - time.hidden_s + time.sum_s;
  return time;
}

OutOfCoreTime out_of_core_time(const Machine& machine, const OutOfCoreRun& run) {
  check_edge(run.n);
  const machine::MemoryLevel& outer = find_level(machine, run.outer);
  const machine::MemoryLevel& inner = find_level(machine, run.inner);
  const double budget = run.budget_bytes > 0 ? run.budget_bytes : static_cast<double>(inner.capacity_bytes);
  const auto word = static_cast<double>(run.word_bytes);
  OutOfCoreTime time;
  time.block = std::min(run.n, std::floor(std::sqrt(budget / (5 * word))));
  if (time.block < 1) {
    throw Error(fmt::format("{} bytes hold no five blocks of one word: give {} or more", budget, 5 * word));
  }
  const double matrix_bytes = run.n * run.n * word;
  const double blocks = run.n / time.block;
  time.moved_bytes = 2 * matrix_bytes * blocks + matrix_bytes;
  // Smith, Lowery, Langou, van de Geijn 2019: "A Tight I/O Lower Bound for Matrix Multiplication".
  time.least_bytes = std::max(2 * run.n * run.n * run.n / std::sqrt(budget / word) * word, 3 * matrix_bytes);
  time.multiply_s = gemm_flops(run.n) / multiply_rate(machine);
  const double transfers = 2 * blocks * blocks * blocks + blocks * blocks;
  time.move_s = time.moved_bytes / outer.bandwidth_bytes_per_s + transfers * outer.latency_s;
  // Until its first blocks of A and B are there, and while its last of C leaves, nothing is multiplied.
  const double hidden_s = run.overlaps ? std::min(time.multiply_s, time.move_s * (1 - 3 / transfers)) : 0;
  time.total_s = time.multiply_s + time.move_s - hidden_s;
  return time;
}

OutOfCoreTime tiled_time(const Machine& machine, const TiledRun& run) {
  const machine::MemoryLevel& outer = find_level(machine, run.outer);
  const auto word = static_cast<double>(run.word_bytes);
  OutOfCoreTime time;
  time.block = run.tile_n;
  const double rows = std::ceil(run.m / run.tile_m);
  const double columns = std::ceil(run.n / run.tile_n);
  const double layers = std::ceil(run.k / run.depth);
  time.moved_bytes = (run.m * run.k * columns + run.k * run.n * rows + run.m * run.n) * word;
  time.least_bytes = (run.m * run.k + run.k * run.n + run.m * run.n) * word;
  time.multiply_s = run.flops / (run.rate_flops > 0 ? run.rate_flops : multiply_rate(machine));
  const double transfers = rows * columns * (2 * layers + 1);
  time.move_s = time.moved_bytes / outer.bandwidth_bytes_per_s + transfers * outer.latency_s;
  // Until the first panels are there, and while the last tile leaves, nothing is multiplied.
  const double edge_bytes = (run.tile_m * run.depth + run.depth * run.tile_n + run.tile_m * run.tile_n) * word;
  const double edge_s = std::min(edge_bytes / outer.bandwidth_bytes_per_s + 3 * outer.latency_s, time.move_s);
  time.total_s = time.multiply_s + time.move_s - std::min(time.multiply_s, time.move_s - edge_s);
  return time;
}

}  // namespace penstock::model

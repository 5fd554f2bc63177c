#include "penstock/model/gemm.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
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

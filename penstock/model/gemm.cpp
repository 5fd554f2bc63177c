#include "penstock/model/gemm.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/model/htmt.hpp"
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

ShiftedTime shifted_time(const Machine& machine, const ShiftedRun& run) {
  const auto layers = static_cast<double>(run.layers);
  const auto rows = static_cast<double>(run.rows);
  const auto columns = static_cast<double>(run.columns);
  const auto word = static_cast<double>(run.word_bytes);
  const auto ranks_per_node = static_cast<double>(run.ranks_per_node);
  const std::int64_t ranks = run.layers * run.rows * run.columns;
  const std::int64_t nodes = divide_up(ranks, run.ranks_per_node);
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
    require_network(machine, nodes);
    const machine::Transport transport = find_transport(machine, run.transport);
    const machine::MessagePiece& piece = piece_of(transport.pieces, depth * word * std::max(tile_m, tile_n));
    const double injection = injection_bytes_per_s(*machine.network, nodes) / ranks_per_node;
    const double bandwidth = std::min(piece.bandwidth_bytes_per_s, injection);
    const double overhead_s =
        piece.latency_s + transport.send_overhead_s + transport.receive_overhead_s + transport.gap_s;
    time.shift_s = time.received_bytes / bandwidth + 2 * time.steps * overhead_s;
    // The multiplies poll the network every few milliseconds, so that panels travel meanwhile on any transport.
    time.hidden_s = run.overlaps ? std::min(time.multiply_s, time.shift_s * (1 - 1 / time.steps)) : 0;
    if (run.layers > 1) {
      time.sum_s = tile_bytes * of_other_nodes / bandwidth + layers * overhead_s;
    }
  }
  time.total_s = time.multiply_s + time.shift_s - time.hidden_s + time.sum_s;
  return time;
}

std::vector<std::array<int, 3>> layered_grids(int ranks) {
  std::vector<int> divisors;
  for (int divisor = 1; divisor <= ranks; ++divisor) {
    if (ranks % divisor == 0) {
      divisors.push_back(divisor);
    }
  }
  std::vector<std::array<int, 3>> grids;
  for (const int layers : divisors) {
    for (const int rows : divisors) {
      if (layers > 1 && ranks / layers % rows == 0) {
        grids.push_back({layers, rows, ranks / layers / rows});
      }
    }
  }
  return grids;
}

std::size_t shortest(std::span<const ShiftedTime> times, double memory_bytes) noexcept {
  std::size_t best = 0;
  for (std::size_t i = 1; i < times.size(); ++i) {
    if (times[i].memory_bytes <= memory_bytes && times[i].total_s < times[best].total_s) {
      best = i;
    }
  }
  return best;
}

TiledTime tiled_time(const Machine& machine, const TiledRun& run) {
  const machine::MemoryLevel& outer = find_level(machine, run.outer);
  const auto word = static_cast<double>(run.product.element_bytes);
  const auto m = static_cast<double>(run.product.m);
  const auto n = static_cast<double>(run.product.n);
  const auto k = static_cast<double>(run.product.k);
  const auto tile_m = static_cast<double>(run.tiling.tile_m);
  const auto tile_n = static_cast<double>(run.tiling.tile_n);
  const auto depth = static_cast<double>(run.tiling.depth);
  const double rate = (run.rate_flops > 0 ? run.rate_flops : multiply_rate(machine)) * thin_block_factor(512, 512) /
                      thin_block_factor(static_cast<double>(run.tiling.strip), depth);
  const double budget = run.budget_bytes > 0 ? run.budget_bytes : (tile_m * tile_n + 2 * depth * tile_n) * word;
  const double panels = std::ceil(k / depth);
  const double bandwidth = outer.bandwidth_bytes_per_s;
  TiledTime time;
  // Smith, Lowery, Langou, van de Geijn 2019: "A Tight I/O Lower Bound for Matrix Multiplication".
  time.min_bytes = std::max(2 * m * n * k / std::sqrt(budget / word), m * k + k * n + m * n) * word;
  for (double row = 0; row < m; row += tile_m) {
    for (double column = 0; column < n; column += tile_n) {
      const double rows = std::min(tile_m, m - row);
      const double columns = std::min(tile_n, n - column);
      const double a_bytes = rows * k * word;
      const double b_bytes = k * columns * word;
      const double c_bytes = rows * columns * word;
      const bool is_first_of_a = column == 0 || !run.keeps_a;
      const bool is_first_of_b = row == 0 || !run.keeps_b;
      const double kept_bytes = (column == 0 && run.keeps_a ? a_bytes : 0) + (row == 0 && run.keeps_b ? b_bytes : 0);
      const double a_rate = is_first_of_a && run.first_a_bytes_per_s > 0 ? run.first_a_bytes_per_s : bandwidth;
      const double b_rate = is_first_of_b && run.first_b_bytes_per_s > 0 ? run.first_b_bytes_per_s : bandwidth;
      const double multiply_s = run.flops * (rows * columns) / (m * n) / rate;
      const double move_s =
          a_bytes / a_rate + b_bytes / b_rate + (kept_bytes + c_bytes) / bandwidth + (2 * panels + 1) * outer.latency_s;
      time.moved_bytes += a_bytes + b_bytes + c_bytes + kept_bytes;
      time.multiply_s += multiply_s;
      time.move_s += move_s;
      time.total_s += run.overlaps ? std::max(multiply_s, move_s) : multiply_s + move_s;
    }
  }
  if (run.overlaps && time.total_s > 0) {
    // Until the first panels are there, and while the last tile leaves, nothing is multiplied.
    const double edge_bytes = (std::min(tile_m, m) * std::min(depth, k) + std::min(depth, k) * std::min(tile_n, n) +
                               std::min(tile_m, m) * std::min(tile_n, n)) *
                              word;
    const double edge_s = std::min(edge_bytes / bandwidth + 3 * outer.latency_s, time.move_s);
    time.total_s = std::max(time.total_s, time.multiply_s + edge_s);
  }
  return time;
}

double percolation_time(const Machine& machine, const TiledRun& run, int threads, double memory_bytes) {
  const auto word = static_cast<double>(run.product.element_bytes);
  const auto spells = static_cast<double>(threads);
  const double rate = run.rate_flops > 0 ? run.rate_flops : multiply_rate(machine);
  const double cache_words = static_cast<double>(machine.node.cache_l2_bytes) / word;
  const double b_c = std::max(htmt_largest_sub_block(cache_words), 1.0);
  const double block = std::sqrt(memory_bytes / word / spells / 3);
  // A product that is not square counts as the square one of as many operations. The cores share both levels.
  const double terms =
      static_cast<double>(run.product.m) * static_cast<double>(run.product.n) * static_cast<double>(run.product.k);
  if (!(terms > 0)) {
    return 0;
  }
  const double s = std::sqrt(spells);
  return htmt_equation_5_s({.q = std::cbrt(terms) / (s * block),
                            .s = s,
                            .t = block / b_c,
                            .b_c = b_c,
                            .dram_word_s = word * spells / find_level(machine, run.outer).bandwidth_bytes_per_s,
                            .sram_word_s = word * spells / machine.node.memory_bandwidth_bytes_per_s,
                            .fpu_cycle_s = run.flops / (2 * terms) * spells / rate,
                            .fpus_per_spell = 1});
}

}  // namespace penstock::model

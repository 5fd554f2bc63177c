// Which algorithm multiplies across ranks, and on which grid of them.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/gemm/distributed.hpp"
#include "penstock/gemm/multiply_by_shifts.hpp"
#include "penstock/gemm/rates.hpp"
#include "penstock/model/model.hpp"

namespace penstock::gemm {
namespace {

/// What the ranks have in common that the choice depends on.
struct Ranks {
  int count;
  int max_per_node;            ///< that map one another
  std::uint64_t memory_bytes;  ///< for each, on the node that has the least

  bool all_mapped() const noexcept { return max_per_node == count; }
};

Ranks ranks_of(const gas::Team& team, const MultiplyOptions& options) {
  const gas::Placement& placement = team.placement();
  const auto share = [&](std::uint64_t bytes, const std::vector<int>& places) {
    return bytes / static_cast<std::uint64_t>(gas::Placement::sharers(places, team.rank()));
  };
  const std::uint64_t mine = options.memory_bytes > 0 ? share(options.memory_bytes, placement.nodes)
                                                      : std::min(share(host_memory_left() / 2, placement.hosts),
                                                                 share(group_memory_left() / 2, placement.limits));
  Ranks ranks{.count = team.size(), .max_per_node = 0, .memory_bytes = std::ranges::min(team.all_gather(mine))};
  for (int rank = 0; rank < team.size(); ++rank) {
    ranks.max_per_node = std::max(ranks.max_per_node, gas::Placement::sharers(placement.domains, rank));
  }
  return ranks;
}

/// A choice with its time by the model.
struct TimedChoice {
  Algorithm algorithm;
  std::array<int, 3> grid;
  std::int64_t depth = 0;
  model::ShiftedTime time = {};
};

std::string text_of(const std::array<int, 3>& grid) {
  return grid[0] == 1 ? fmt::format("{} x {}", grid[1], grid[2])
                      : fmt::format("{} layers of {} x {}", grid[0], grid[1], grid[2]);
}

void check(const gas::Team& team, const MultiplyOptions& options) {
  team.together([&] {
    const auto [layers, rows, columns] = options.layers;
    if (layers == 0 && rows == 0 && columns == 0) {
      return;
    }
    if (layers < 1 || rows < 1 || columns < 1 || std::int64_t{layers} * rows > team.size() / columns) {
      throw Error(fmt::format("{} layers of {} x {} ranks: all must be at least 1, and of {} ranks no more can work",
                              layers, rows, columns, team.size()));
    }
    if (options.algorithm != Algorithm::layered) {
      throw Error(fmt::format("layers are given for the algorithm {}: they are for layered", name(options.algorithm)));
    }
  });
}

/// What the options leave open, the simplest first, without depths.
std::vector<TimedChoice> grids_for(const Ranks& ranks, const std::array<int, 3>& flat, bool knows_network,
                                   const MultiplyOptions& options) {
  std::vector<TimedChoice> candidates;
  if (options.algorithm == Algorithm::automatic) {
    candidates.push_back({ranks.all_mapped() ? Algorithm::stationary : Algorithm::cannon, flat});
  } else if (options.algorithm != Algorithm::layered) {
    candidates.push_back({options.algorithm, flat});
  }
  if (options.layers[0] > 0) {
    candidates.push_back({Algorithm::layered, options.layers});
  } else if (options.algorithm == Algorithm::layered || (candidates.front().algorithm == Algorithm::cannon &&
                                                         options.algorithm == Algorithm::automatic && knows_network)) {
    for (const std::array<int, 3>& grid : model::layered_grids(ranks.count)) {
      candidates.push_back({Algorithm::layered, grid});
    }
  }
  if (candidates.empty()) {
    candidates.push_back({Algorithm::layered, flat});  // one rank has no layers
  }
  return candidates;
}

/// The same with all depths where the network is known.
std::vector<TimedChoice> candidates_for(const Ranks& ranks, const std::array<int, 3>& flat, bool knows_network,
                                        const MultiplyOptions& options) {
  std::vector<TimedChoice> candidates;
  for (TimedChoice candidate : grids_for(ranks, flat, knows_network, options)) {
    const bool is_open = knows_network && candidate.algorithm != Algorithm::stationary;
    for (const std::int64_t depth : std::span(model::panel_depths).first(is_open ? model::panel_depths.size() : 1)) {
      candidate.depth = depth;
      candidates.push_back(candidate);
    }
  }
  return candidates;
}

/// Why the best of the candidates was taken, which the model has been asked about.
std::string reason_for(const TimedChoice& best, const std::vector<TimedChoice>& candidates, const Ranks& ranks) {
  std::string reason;
  if (best.time.shift_s == 0) {
    reason = ranks.all_mapped() ? "all ranks map one another's memory, and multiply blocks where they lie"
                                : "nothing is known of the network that would speak for layers";
  } else if (best.algorithm == Algorithm::cannon) {
    reason = "the shortest by the model of all grids that have the memory";
  } else {
    double flat_s = candidates.front().time.total_s;
    for (const TimedChoice& other : candidates) {
      flat_s = other.algorithm == Algorithm::cannon ? std::min(flat_s, other.time.total_s) : flat_s;
    }
    reason = fmt::format("by the model {}, and {} on {}", format_seconds(best.time.total_s), format_seconds(flat_s),
                         text_of(candidates.front().grid));
  }
  const auto shortest =
      std::ranges::min_element(candidates, {}, [](const TimedChoice& one) { return one.time.total_s; });
  if (shortest->time.total_s < best.time.total_s) {
    reason += fmt::format("; {} would take {}, but also {} of each rank's memory", text_of(shortest->grid),
                          format_seconds(shortest->time.total_s),
                          format_bytes(static_cast<std::uint64_t>(shortest->time.memory_bytes)));
  }
  return reason;
}

/// What `plan_multiply` returns, of what this rank knows.
MultiplyPlan choose(const gas::Team& team, const Ranks& ranks, npy::DataType type, std::int64_t m, std::int64_t n,
                    std::int64_t k, const std::array<int, 2>& grid_of_c, const MultiplyOptions& options) {
  const std::array<int, 3> flat{1, grid_of_c[0], grid_of_c[1]};
  const machine::Machine machine = options.machine != nullptr ? *options.machine : machine::built_in();
  const bool knows_network = machine.network && !machine.transports.empty();
  const bool knows_name = std::ranges::any_of(
      machine.transports, [&](const machine::Transport& one) { return one.name == team.transport().farthest(); });
  std::vector<TimedChoice> candidates = candidates_for(ranks, flat, knows_network, options);
  std::vector<model::ShiftedTime> times;
  for (TimedChoice& candidate : candidates) {
    const std::array<int, 3>& grid = candidate.grid;
    if ((knows_network || ranks.all_mapped()) && m > 0 && n > 0 && k > 0) {
      candidate.time = model::shifted_time(
          machine, {.m = static_cast<double>(m),
                    .n = static_cast<double>(n),
                    .k = static_cast<double>(k),
                    .word_bytes = npy::element_bytes(type),
                    .flops = flops(type, static_cast<double>(m), static_cast<double>(n), static_cast<double>(k)),
                    .rate_flops = rate_flops(machine, options.threads, type),
                    .layers = grid[0],
                    .rows = grid[1],
                    .columns = grid[2],
                    .ranks_per_node = ranks.max_per_node,
                    .depth = static_cast<double>(candidate.depth),
                    .transport = knows_name ? std::string(team.transport().farthest()) : std::string()});
    }
    times.push_back(candidate.time);
  }
  const TimedChoice* const best = &candidates[model::shortest(times, static_cast<double>(ranks.memory_bytes))];
  const bool is_open = options.algorithm == Algorithm::automatic;
  return {.algorithm = best->algorithm,
          .grid = best->grid,
          .depth = best->depth,
          .predicted_s = best->time.total_s,
          .transfer_s = best->time.shift_s,
          .hidden_s = best->time.hidden_s,
          .reason = is_open ? reason_for(*best, candidates, ranks) : "asked for"};
}

}  // namespace

std::string_view name(Algorithm algorithm) noexcept {
  switch (algorithm) {
    case Algorithm::automatic:
      return "automatic";
    case Algorithm::stationary:
      return "stationary";
    case Algorithm::cannon:
      return "cannon";
    case Algorithm::layered:
      return "layered";
  }
  return "";
}

MultiplyPlan plan_multiply(const gas::Team& team, npy::DataType type, std::int64_t m, std::int64_t n, std::int64_t k,
                           const std::array<int, 2>& grid_of_c, const MultiplyOptions& options) {
  check(team, options);
  const Ranks ranks = ranks_of(team, options);
  MultiplyPlan plan;
  team.together([&] { plan = choose(team, ranks, type, m, n, k, grid_of_c, options); });
  // Ranks with other options, or that know other machines, may have chosen differently.
  team.agree_on("algorithm of a multiply",
                fmt::format("{} on {}, {} deep", name(plan.algorithm), text_of(plan.grid), plan.depth));
  return plan;
}

}  // namespace penstock::gemm

// Which algorithm multiplies across ranks, and on which grid of them.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/gemm/cannon.hpp"
#include "penstock/gemm/distributed.hpp"
#include "penstock/gemm/figures.hpp"
#include "penstock/model/model.hpp"

namespace penstock::gemm {
namespace {

/// What the ranks have in common that the choice depends on.
struct Ranks {
  int count;
  int most_per_node;           ///< that map one another
  std::uint64_t memory_bytes;  ///< for each, on the node that has the least
};

Ranks ranks_of(const gas::Team& team, const MultiplyOptions& options) {
  struct View {
    int lowest_local;
    std::uint64_t memory_bytes;
  };
  View mine{0, options.memory_bytes > 0 ? options.memory_bytes : available_memory_bytes() / 2};
  while (!team.is_local(mine.lowest_local)) {
    ++mine.lowest_local;
  }
  const std::vector<View> views = team.all_gather(mine);
  Ranks ranks{team.size(), 0, 0};
  std::vector<int> on_node(views.size());
  for (const View& view : views) {
    const int count = ++on_node[static_cast<std::size_t>(view.lowest_local)];
    ranks.most_per_node = std::max(ranks.most_per_node, count);
  }
  for (const View& view : views) {
    const auto sharing = static_cast<std::uint64_t>(on_node[static_cast<std::size_t>(view.lowest_local)]);
    const std::uint64_t each = view.memory_bytes / sharing;
    ranks.memory_bytes = ranks.memory_bytes == 0 ? each : std::min(ranks.memory_bytes, each);
  }
  return ranks;
}

/// Layers of grids for so many ranks, all of which work.
std::vector<std::array<int, 3>> layered_grids(int ranks) {
  std::vector<std::array<int, 3>> grids;
  for (int layers = 2; layers <= ranks; ++layers) {
    for (int rows = 1; ranks % layers == 0 && rows <= ranks / layers; ++rows) {
      if (ranks / layers % rows == 0) {
        grids.push_back({layers, rows, ranks / layers / rows});
      }
    }
  }
  return grids;
}

/// A choice with its time by the model.
struct Candidate {
  Algorithm algorithm;
  std::array<int, 3> grid;
  model::ShiftedTime time;
};

std::string text_of(const std::array<int, 3>& grid) {
  return grid[0] == 1 ? fmt::format("{} x {}", grid[1], grid[2])
                      : fmt::format("{} layers of {} x {}", grid[0], grid[1], grid[2]);
}

void check(const gas::Team& team, const MultiplyOptions& options) {
  const auto [layers, rows, columns] = options.layers;
  const bool is_given = layers != 0 || rows != 0 || columns != 0;
  team.agree_on("options of a multiply", fmt::format("{} on {} x {} x {}, {} bytes", name(options.algorithm), layers,
                                                     rows, columns, options.memory_bytes));
  team.together([&] {
    if (is_given && (layers < 1 || rows < 1 || columns < 1 || std::int64_t{layers} * rows > team.size() / columns)) {
      throw Error(fmt::format("{} layers of {} x {} ranks: all must be at least 1, and of {} ranks no more can work",
                              layers, rows, columns, team.size()));
    }
    if (is_given && options.algorithm != Algorithm::layered) {
      throw Error(fmt::format("layers are given for the algorithm {}: they are for layered", name(options.algorithm)));
    }
  });
}

MultiplyPlan choose(const gas::Team& team, npy::DataType type, std::int64_t m, std::int64_t n, std::int64_t k,
                    const std::array<int, 2>& grid_of_c, const MultiplyOptions& options) {
  const std::array<int, 3> flat{1, grid_of_c[0], grid_of_c[1]};
  const Ranks ranks = ranks_of(team, options);
  const bool all_mapped = ranks.most_per_node == ranks.count;
  if (options.algorithm == Algorithm::stationary || options.algorithm == Algorithm::cannon) {
    return {options.algorithm, flat, 0, "asked for"};
  }
  if (options.layers[0] > 0) {
    return {Algorithm::layered, options.layers, 0, "asked for"};
  }
  if (options.algorithm == Algorithm::automatic && all_mapped) {
    return {Algorithm::stationary, flat, 0, "all ranks map one another's memory, and multiply blocks where they lie"};
  }
  const machine::Machine machine = options.machine != nullptr ? *options.machine : machine::built_in();
  const bool has_network = machine.network && !machine.transports.empty();
  if (options.algorithm == Algorithm::automatic && (!has_network || m == 0 || n == 0 || k == 0)) {
    return {
        Algorithm::cannon, flat, 0,
        has_network ? "nothing is to be multiplied" : "nothing is known of the network that would speak for layers"};
  }
  const auto time_of = [&](const std::array<int, 3>& grid) {
    const bool has_transport = std::ranges::any_of(
        machine.transports, [&](const machine::Transport& one) { return one.name == team.transport_name(); });
    return model::shifted_time(
        machine, {.m = std::max(static_cast<double>(m), 1.0),
                  .n = std::max(static_cast<double>(n), 1.0),
                  .k = std::max(static_cast<double>(k), 1.0),
                  .word_bytes = static_cast<std::int64_t>(npy::element_bytes(type)),
                  .flops = flops(type, static_cast<double>(m), static_cast<double>(n), static_cast<double>(k)),
                  .rate_flops = rate_flops(machine, options.threads, type),
                  .layers = grid[0],
                  .rows = grid[1],
                  .columns = grid[2],
                  .ranks_per_node = ranks.most_per_node,
                  .depth = static_cast<double>(panel_depth),
                  .transport = has_transport ? std::string(team.transport_name()) : std::string()});
  };
  std::optional<Candidate> best;
  std::optional<Candidate> too_large;  // the fastest of those that have no room
  const auto consider = [&](Algorithm algorithm, const std::array<int, 3>& grid) {
    const Candidate candidate{algorithm, grid, has_network || all_mapped ? time_of(grid) : model::ShiftedTime{}};
    const bool fits = candidate.time.memory_bytes <= static_cast<double>(ranks.memory_bytes);
    std::optional<Candidate>& rival = fits ? best : too_large;
    if (!rival || candidate.time.total_s < rival->time.total_s) {
      rival = candidate;
    }
  };
  if (options.algorithm == Algorithm::automatic) {
    consider(Algorithm::cannon, flat);
  }
  for (const std::array<int, 3>& grid : layered_grids(ranks.count)) {
    consider(Algorithm::layered, grid);
  }
  if (!best) {
    // What was asked for is done, if it can be; Cannon's algorithm needs the least.
    return options.algorithm == Algorithm::layered
               ? MultiplyPlan{Algorithm::layered, too_large ? too_large->grid : flat, 0, "asked for"}
               : MultiplyPlan{Algorithm::cannon, flat, 0, "no other has the memory"};
  }
  std::string reason = fmt::format("{} by the model", format_seconds(best->time.total_s));
  if (best->algorithm == Algorithm::cannon) {
    reason += ", the least of all grids that have the memory";
  } else if (options.algorithm == Algorithm::automatic) {
    reason += fmt::format(", and {} on {}", format_seconds(time_of(flat).total_s), text_of(flat));
  }
  if (too_large && too_large->time.total_s < best->time.total_s) {
    reason += fmt::format("; {} would take {}, but {} of each rank's memory", text_of(too_large->grid),
                          format_seconds(too_large->time.total_s),
                          format_bytes(static_cast<std::uint64_t>(too_large->time.memory_bytes)));
  }
  return {best->algorithm, best->grid, best->time.total_s, reason};
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
  const MultiplyPlan plan = choose(team, type, m, n, k, grid_of_c, options);
  // Ranks that know different machines may have chosen differently.
  team.agree_on("algorithm of a multiply", fmt::format("{} on {}", name(plan.algorithm), text_of(plan.grid)));
  return plan;
}

}  // namespace penstock::gemm

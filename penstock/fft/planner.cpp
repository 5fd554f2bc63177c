#include "penstock/fft/planner.hpp"

#include <algorithm>
#include <array>
#include <complex>
#include <iterator>
#include <memory>
#include <numeric>
#include <set>
#include <span>
#include <string_view>
#include <utility>

#include "penstock/base/base.hpp"
#include "penstock/model/model.hpp"

namespace penstock::fft {
namespace {

std::vector<Grid> grids_of(const Problem& problem, int ranks) {
  const Options& options = problem.options;
  if (options.grid != Grid{}) {
    return {options.grid};
  }
  std::vector<Grid> grids{choose_grid(spectrum_points(options), ranks, options.along)};
  for (int ty = 1; ty <= ranks; ++ty) {
    if (ranks % ty == 0 && Grid{ty, ranks / ty} != grids.front()) {
      grids.push_back({ty, ranks / ty});
    }
  }
  return grids;
}

std::vector<std::int64_t> grains_of(const Problem& problem, const Grid& grid, bool any_by_message) {
  const std::int64_t planes = (spectrum_points(problem.options)[2] + grid.tz - 1) / grid.tz;
  const auto at_most_all = [&](std::int64_t grain) { return grain >= planes ? 0 : grain; };
  switch (problem.options.grain > 0 ? Algorithm::automatic : problem.options.algorithm) {
    case Algorithm::packed:
      return {0};
    case Algorithm::slabs:
      return {at_most_all(1)};
    case Algorithm::automatic:
      break;
  }
  if (problem.options.grain > 0) {
    return {at_most_all(problem.options.grain)};
  }
  if (!any_by_message) {
    return {0};  // nothing is gained by telling peers earlier: their last stage needs every plane
  }
  // By rule, four messages in flight per peer: they overlap all but the last quarter.
  std::vector<std::int64_t> grains{at_most_all(std::max<std::int64_t>(planes / 4, 1))};
  for (std::int64_t grain = planes; grain > 0; grain /= 2) {
    if (std::ranges::find(grains, at_most_all(grain)) == grains.end()) {
      grains.push_back(at_most_all(grain));
    }
  }
  return grains;
}

/// The numbers of late eighths to choose from.
std::vector<std::int64_t> late_eighths_of(const Problem& problem, bool any_by_message) {
  const Options& options = problem.options;
  if (options.late_eighths || options.algorithm != Algorithm::automatic || !any_by_message) {
    return {options.late_eighths.value_or(0)};
  }
  std::vector<std::int64_t> all(model::exchange_parts);
  std::iota(all.begin(), all.end(), 0);
  return all;
}

/// Collective: what messages between nodes reach; nothing where there are none, where they are so short that to measure
/// would take longer than it saves, or where another exchange method is asked for.
std::shared_ptr<const gas::NetworkFigures> network_of(const gas::Team& team, const Problem& problem) {
  constexpr std::int64_t least_bytes = 64 << 10;  // of what two ranks have for one another
  const auto [nx, ny, nz] = spectrum_points(problem.options);
  const std::int64_t pairs = static_cast<std::int64_t>(team.size()) * team.size();
  const bool is_long = nx * ny * nz * problem.spectrum_bytes() / pairs >= least_bytes;
  return is_long && problem.options.exchange_method == nullptr && !is_simulated ? gas::network_figures_of(team)
                                                                                : nullptr;
}

/// What the model says, or 0 where the machine's figures do not suffice or it does not know the transform.
double predict(const gas::Team& team, const Problem& problem, const Candidate& candidate) {
  if (!problem.modelled.is_known) {
    return 0;
  }
  const bool is_plane_in_cache = has_room_for_planes(problem, candidate.grid, team.size());
  try {
    return model::planned_fft_time(problem.modelled.machine, run_of(problem, candidate, is_plane_in_cache)).total_s;
  } catch (const Error&) {
    return 0;
  }
}

/// Of ways that differ in what is late, and are in its order: the first one where it is as good as any, else the middle
/// of those that are, which has the most room on both sides.
Candidate middle_of_best(const std::vector<Candidate>& ways) {
  constexpr double as_good = 1.01;
  const double least_s = std::ranges::min(ways, {}, &Candidate::predicted_s).predicted_s;
  std::vector<Candidate> best;
  std::ranges::copy_if(ways, std::back_inserter(best),
                       [&](const Candidate& way) { return way.predicted_s <= as_good * least_s; });
  return best.front().is_as(ways.front()) ? ways.front() : best[best.size() / 2];
}

/// What it costs to cut an exchange is known less well than what it gains: the one that is not cut goes first where it
/// is as good. `candidates` are in the order of their times.
void prefer_whole(std::vector<Candidate>& candidates) {
  constexpr double as_good = 1.03;
  const Candidate whole{.grid = candidates.front().grid};
  const auto found = std::ranges::find_if(candidates, [&](const Candidate& c) { return c.is_as(whole); });
  if (found != candidates.end() && found->predicted_s <= as_good * candidates.front().predicted_s) {
    std::rotate(candidates.begin(), found, found + 1);
  }
}

}  // namespace

gas::Carrier choose_carrier(const gas::Team& team, const Problem& problem) {
  const auto figures = network_of(team, problem);
  return figures == nullptr ? gas::Carrier::fastest : figures->carrier;
}

bool choose_progress_thread(const gas::Team& team, const Problem& problem) {
  const Progress wanted = problem.options.progress;
  if (team.are_all_local() || wanted != Progress::automatic) {
    return !team.are_all_local() && wanted == Progress::thread;
  }
  constexpr double worth_it = 0.05;  // of a transfer; two measurements differ by as much
  const auto figures = network_of(team, problem);
  if (figures == nullptr || !figures->thread_progress || *figures->thread_progress < figures->progress + worth_it) {
    return false;
  }
  const auto rank = static_cast<std::size_t>(team.rank());
  return team.all_of(problem.options.threads < team.placement().processors[rank]);
}

ModelledRun model_of(const gas::Team& team, const Problem& problem) {
  const Options& options = problem.options;
  const gas::TransportTraits& transport = team.transport();
  const gas::Placement& placement = team.placement();
  machine::Machine machine = options.machine;
  // Asked for on all ranks alike, as machines may differ.
  if (const auto figures = network_of(team, problem); figures != nullptr && !machine.network) {
    gas::NetworkFigures of_plan = *figures;
    of_plan.progress =
        problem.has_progress_thread ? figures->thread_progress.value_or(figures->progress) : figures->progress;
    machine = gas::with_network(std::move(machine), of_plan, figures->carrier, transport.farthest());
  }
  model::PlannedFft run{.fft = {.size = options.size,
                                .is_real = options.type == Type::r2c,
                                .real_bytes = problem.real_bytes,
                                .fields = options.batch}};
  // Of a machine without a network, ranks that send messages are on one node all the same.
  run.nodes = machine.network ? gas::Placement::count(placement.domains) : 1;
  const int hosts = gas::Placement::count(placement.hosts);
  run.nodes_per_host = (run.nodes + hosts - 1) / hosts;
  run.ranks_per_node = (team.size() + run.nodes - 1) / run.nodes;
  run.threads = options.threads;
  run.is_output_as_input = options.output == Output::as_input;
  run.is_node_shared = transport.maps_memory || !transport.network;
  const std::string_view name = transport.farthest();
  const auto& transports = machine.transports;
  run.transport = std::ranges::find(transports, name, &machine::Transport::name) == transports.end() ? "" : name;
  return {.machine = std::move(machine),
          .run = std::move(run),
          .is_known = options.type != Type::r2r && options.along == std::array{true, true, true} &&
                      options.exchange_method == nullptr};
}

model::PlannedFft run_of(const Problem& problem, const Candidate& candidate, bool is_plane_in_cache) {
  model::PlannedFft run = problem.modelled.run;
  run.ty = candidate.grid.ty;
  run.tz = candidate.grid.tz;
  run.planes_per_message = candidate.grain;
  run.late_parts = candidate.late_eighths;
  run.is_plane_in_cache = is_plane_in_cache;
  return run;
}

std::vector<Candidate> list_candidates(const gas::Team& team, const Problem& problem) {
  const bool any_by_message = !team.are_all_local();
  std::vector<Candidate> candidates;
  for (const Grid& grid : grids_of(problem, team.size())) {
    for (const std::int64_t grain : grains_of(problem, grid, any_by_message)) {
      std::vector<Candidate> ways;
      for (const std::int64_t late : late_eighths_of(problem, any_by_message)) {
        Candidate& way = ways.emplace_back(Candidate{.grid = grid, .grain = grain, .late_eighths = late});
        way.predicted_s = predict(team, problem, way);
      }
      candidates.push_back(ways.front());
      if (const Candidate best = middle_of_best(ways); !best.is_as(ways.front())) {
        candidates.push_back(best);
      }
    }
  }
  // By rule where one cannot be predicted: those come first that the rules would choose.
  if (std::ranges::all_of(candidates, [](const Candidate& c) { return c.predicted_s > 0; })) {
    std::ranges::stable_sort(candidates, {}, &Candidate::predicted_s);
    prefer_whole(candidates);
  }
  // Machines may differ between ranks, their plans may not.
  candidates.resize(team.all_gather(candidates.size()).front());
  gas::broadcast(team, std::span(candidates), 0);
  return candidates;
}

namespace {

/// The options with one way and no other.
Options fixed(const Options& options, const Candidate& candidate) {
  Options one = options;
  one.planning = Planning::model;
  one.grid = candidate.grid;
  one.grain = candidate.grain;
  one.late_eighths = candidate.late_eighths;
  if (candidate.grain == 0 && options.algorithm == Algorithm::automatic) {
    one.algorithm = Algorithm::packed;
  }
  return one;
}

/// The best of some calls, of the slowest rank.
template <class Real>
double time_plan(const gas::Team& team, const Options& options) {
  constexpr int most_calls = 5;
  constexpr double enough_s = 0.3;
  Plan<Real> plan(team, options);
  Memory memory;
  team.together([&] { memory = Memory(plan.memory().field_bytes * static_cast<std::uint64_t>(options.batch)); });
  auto* reals = reinterpret_cast<Real*>(memory.data());
  const std::span real(reals, memory.size() / sizeof(Real));
  const std::span complex(reinterpret_cast<std::complex<Real>*>(reals), memory.size() / sizeof(std::complex<Real>));
  const auto run = [&] {
    switch (options.type) {
      case Type::c2c:
        plan.forward(std::span<const std::complex<Real>>(complex), complex);
        break;
      case Type::r2c:
        plan.forward(std::span<const Real>(real), complex);
        break;
      case Type::r2r:
        plan.forward(std::span<const Real>(real), real);
        break;
    }
  };
  run();
  double best_s = 0;
  double spent_s = 0;
  for (int i = 0; i < most_calls && spent_s < enough_s; ++i) {
    const double slowest_s = gas::time_together(team, run);
    best_s = i == 0 ? slowest_s : std::min(best_s, slowest_s);
    spent_s += slowest_s;
  }
  return best_s;
}

}  // namespace

template <class Real>
std::vector<Candidate> measure_candidates(const gas::Team& team, const Options& options, const std::string& problem,
                                          std::vector<Candidate> candidates) {
  // What rank 0 knows counts: ranks may have read other files.
  const auto known = options.choices ? options.choices->find(problem) : std::nullopt;
  const Candidate answer = team.all_gather(known.value_or(Candidate{})).front();
  // How much is late follows from what the network reaches, which each run measures anew.
  const auto same = [&](const Candidate& candidate) {
    return candidate.grid == answer.grid && candidate.grain == answer.grain &&
           (candidate.late_eighths > 0) == (answer.late_eighths > 0);
  };
  if (const auto found = std::ranges::find_if(candidates, same); found != candidates.end()) {
    found->late_eighths = answer.late_eighths;
    found->measured_s = answer.measured_s;
    std::rotate(candidates.begin(), found, found + 1);
    return candidates;
  }
  const double begin_s = seconds();
  // The first of several once more at the end: it has met a network that was cold.
  const std::size_t times = candidates.size() + (candidates.size() > 1 ? 1 : 0);
  for (std::size_t i = 0; i < times; ++i) {
    const double spent_s = team.all_gather(seconds() - begin_s).front();
    if (i > 0 && spent_s > options.planning_budget_s) {
      break;
    }
    Candidate& candidate = candidates[i % candidates.size()];
    const double time_s = time_plan<Real>(team, fixed(options, candidate));
    candidate.measured_s = candidate.measured_s > 0 ? std::min(candidate.measured_s, time_s) : time_s;
  }
  std::ranges::stable_sort(candidates, [](const Candidate& a, const Candidate& b) {
    return (a.measured_s > 0) != (b.measured_s > 0) ? a.measured_s > 0 : a.measured_s < b.measured_s;
  });
  if (options.choices) {
    options.choices->keep(problem, candidates.front());
  }
  return candidates;
}

template std::vector<Candidate> measure_candidates<float>(const gas::Team&, const Options&, const std::string&,
                                                          std::vector<Candidate>);
template std::vector<Candidate> measure_candidates<double>(const gas::Team&, const Options&, const std::string&,
                                                           std::vector<Candidate>);

}  // namespace penstock::fft

#include "penstock/fft/planner.hpp"

#include <algorithm>
#include <array>
#include <complex>
#include <iterator>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "penstock/base/base.hpp"
#include "penstock/model/model.hpp"

namespace penstock::fft {
namespace {

/// What the values of a dimension of tuning depend on.
struct Search {
  const Problem& problem;
  int ranks;
  bool sends_messages;  ///< some ranks do not map one another's memory
};

/// What the model says, or 0 where the machine's figures do not suffice or it does not know the transform.
double predict(const Search& search, const Tuning& tuning) {
  const auto& modelled = search.problem.modelled;
  if (!modelled) {
    return 0;
  }
  const bool is_plane_in_cache = tuning.grid.ty == 1 && has_room_for_planes(search.problem, tuning.grid, search.ranks);
  try {
    return model::planned_fft_time(modelled->machine, run_of(*modelled, tuning, is_plane_in_cache)).total_s;
  } catch (const Error&) {
    return 0;
  }
}

std::vector<Tuning> with_grids(const Search& search, const Tuning& tuning) {
  const Options& options = search.problem.options;
  const auto with = [&](const Grid& grid) {
    Tuning one = tuning;
    one.grid = grid;
    return one;
  };
  if (options.grid != Grid{}) {
    return {with(options.grid)};
  }
  std::vector<Tuning> tunings{with(choose_grid(spectrum_points(options), search.ranks, options.along))};
  for (int ty = 1; ty <= search.ranks; ++ty) {
    if (search.ranks % ty == 0 && Grid{ty, search.ranks / ty} != tunings.front().grid) {
      tunings.push_back(with({ty, search.ranks / ty}));
    }
  }
  return tunings;
}

std::vector<Tuning> with_planes_per_message(const Search& search, const Tuning& tuning) {
  const Options& options = search.problem.options;
  const std::int64_t planes = divide_up(options.size[2], tuning.grid.tz);
  std::vector<Tuning> tunings;
  const auto add = [&](std::int64_t planes_per_message) {
    Tuning one = tuning;
    one.planes_per_message = planes_per_message >= planes ? 0 : planes_per_message;
    if (std::ranges::find(tunings, one) == tunings.end()) {
      tunings.push_back(one);
    }
  };
  if (options.planes_per_message) {
    add(*options.planes_per_message);
  } else if (!search.sends_messages) {
    add(0);  // nothing is gained by telling peers earlier: their last stage needs every plane
  } else {
    // By rule, four messages in flight per peer: they overlap all but the last quarter.
    add(std::max<std::int64_t>(planes / 4, 1));
    for (std::int64_t fewer = planes; fewer > 0; fewer /= 2) {
      add(fewer);
    }
  }
  return tunings;
}

/// At most two: nothing deferred, and as many parts as the model finds best. Where several numbers are within 1 % of
/// the best the median is taken, as it has most room on both sides.
std::vector<Tuning> with_deferred_parts(const Search& search, const Tuning& tuning) {
  constexpr double as_good = 1.01;
  const Options& options = search.problem.options;
  Tuning one = tuning;
  if (options.deferred_parts || options.exchange_method != nullptr || !search.sends_messages) {
    one.deferred_parts = options.deferred_parts.value_or(0);
    return {one};
  }
  std::array<double, shape::exchange_parts> predicted_s{};
  for (std::size_t parts = 0; parts < predicted_s.size(); ++parts) {
    one.deferred_parts = static_cast<std::int64_t>(parts);
    predicted_s[parts] = predict(search, one);
  }
  std::vector<std::int64_t> best;
  for (std::size_t parts = 0; parts < predicted_s.size(); ++parts) {
    if (predicted_s[parts] <= as_good * std::ranges::min(predicted_s)) {
      best.push_back(static_cast<std::int64_t>(parts));
    }
  }
  one.deferred_parts = best[best.size() / 2];
  return best.front() == 0 ? std::vector{tuning} : std::vector{tuning, one};
}

/// The dimensions of tuning. Each gives the values that the options leave open, to be combined with what the dimensions
/// before it have given; that which goes by rule is first.
constexpr std::array dimensions{with_grids, with_planes_per_message, with_deferred_parts};

/// Collective: what messages between nodes reach; nothing where there are none, where they are so short that to measure
/// would take longer than it saves, or where another exchange method is asked for.
std::shared_ptr<const gas::NetworkRates> network_of(const gas::Team& team, const Problem& problem) {
  constexpr std::int64_t min_bytes = 64 << 10;  // of what two ranks have for one another
  const auto [nx, ny, nz] = spectrum_points(problem.options);
  const std::int64_t pairs = static_cast<std::int64_t>(team.size()) * team.size();
  const bool is_long = nx * ny * nz * problem.spectrum_bytes() / pairs >= min_bytes;
  return is_long && problem.options.exchange_method == nullptr && !is_simulated ? gas::network_rates_of(team) : nullptr;
}

/// What it costs to cut an exchange is known less well than what it gains: the one that is not cut goes first where it
/// is as good. `candidates` are in the order of their times.
void prefer_whole(std::vector<Candidate>& candidates) {
  constexpr double as_good = 1.03;
  const Tuning whole{.grid = candidates.front().tuning.grid};
  const auto found = std::ranges::find(candidates, whole, &Candidate::tuning);
  if (found != candidates.end() && found->predicted_s <= as_good * candidates.front().predicted_s) {
    std::rotate(candidates.begin(), found, found + 1);
  }
}

}  // namespace

gas::Carrier choose_carrier(const gas::Team& team, const Problem& problem) {
  const auto rates = network_of(team, problem);
  return rates == nullptr ? gas::Carrier::fastest : rates->carrier;
}

bool choose_progress_thread(const gas::Team& team, const Problem& problem) {
  const Progress wanted = problem.options.progress;
  if (team.are_all_local() || wanted != Progress::automatic) {
    return !team.are_all_local() && wanted == Progress::thread;
  }
  constexpr double worth_it = 0.05;  // of a transfer; two measurements differ by as much
  const auto rates = network_of(team, problem);
  if (rates == nullptr || !rates->thread_progress || *rates->thread_progress < rates->progress + worth_it) {
    return false;
  }
  const auto rank = static_cast<std::size_t>(team.rank());
  return team.all_of(problem.options.threads < team.placement().processors[rank]);
}

std::optional<ModelledRun> model_of(const gas::Team& team, const Problem& problem) {
  const Options& options = problem.options;
  const auto rates = network_of(team, problem);  // before ranks may part, as their machines may differ
  const bool are_fourier = std::ranges::none_of(options.kinds, [](const auto& kind) { return kind.has_value(); });
  const bool has_all_modes = problem.modes(0) == 0 && problem.modes(1) == 0 && problem.modes(2) == 0;
  if (options.type == Type::r2r || !are_fourier || !has_all_modes || options.along != std::array{true, true, true} ||
      options.exchange_method != nullptr) {
    return std::nullopt;
  }
  const gas::TransportTraits& transport = team.transport();
  const gas::Placement& placement = team.placement();
  machine::Machine machine = problem.machine;
  if (rates != nullptr && !machine.network) {
    gas::NetworkRates of_plan = *rates;
    of_plan.progress = problem.has_progress_thread ? rates->thread_progress.value_or(rates->progress) : rates->progress;
    machine = gas::with_network(std::move(machine), of_plan, rates->carrier, transport.farthest());
  }
  model::PlannedFft run{.fft = {.size = options.size,
                                .is_real = options.type == Type::r2c,
                                .real_bytes = problem.real_bytes,
                                .fields = options.batch}};
  // Of a machine without a network, ranks that send messages are on one node all the same.
  run.nodes = machine.network ? gas::Placement::count(placement.domains) : 1;
  const int hosts = gas::Placement::count(placement.hosts);
  run.nodes_per_host = divide_up(run.nodes, hosts);
  run.ranks_per_node = divide_up<std::int64_t>(team.size(), run.nodes);
  run.threads = options.threads;
  run.is_output_as_input = options.output == Output::as_input;
  run.is_node_shared = transport.maps_memory || !transport.network;
  const std::string_view name = transport.farthest();
  const auto& transports = machine.transports;
  run.transport = std::ranges::find(transports, name, &machine::Transport::name) == transports.end() ? "" : name;
  return ModelledRun{.machine = std::move(machine), .run = std::move(run)};
}

model::PlannedFft run_of(const ModelledRun& modelled, const Tuning& tuning, bool is_plane_in_cache) {
  model::PlannedFft run = modelled.run;
  run.tuning = tuning;
  run.is_plane_in_cache = is_plane_in_cache;
  return run;
}

std::vector<Candidate> list_candidates(const gas::Team& team, const Problem& problem) {
  const Search search{.problem = problem, .ranks = team.size(), .sends_messages = !team.are_all_local()};
  std::vector<Tuning> tunings{Tuning{}};
  for (const auto& values_of : dimensions) {
    std::vector<Tuning> extended;
    for (const Tuning& tuning : tunings) {
      std::ranges::copy(values_of(search, tuning), std::back_inserter(extended));
    }
    tunings = std::move(extended);
  }
  std::vector<Candidate> candidates;
  for (const Tuning& tuning : tunings) {
    candidates.push_back({.tuning = tuning, .predicted_s = predict(search, tuning)});
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

/// The options with this tuning and no other.
Options fixed(const Options& options, const Tuning& tuning) {
  Options one = options;
  one.planning = Planning::model;
  one.grid = tuning.grid;
  one.planes_per_message = tuning.planes_per_message;
  one.deferred_parts = tuning.deferred_parts;
  return one;
}

/// The best of some calls, of the slowest rank.
template <class Real>
double time_plan(const gas::Team& team, const Options& options) {
  constexpr int max_calls = 5;
  constexpr double enough_s = 0.3;
  using Complex = std::complex<Real>;
  Plan<Real> plan(team, options);
  Memory memory;
  if (!options.has_arrays) {
    team.together([&] { memory = Memory(plan.memory().field_bytes * static_cast<std::uint64_t>(options.batch)); });
  }
  // In place, but for plans with arrays of their own.
  const auto in = [&]<class Number>(Number) {
    return options.has_arrays ? std::span<const Number>(plan.template input_array<Number>())
                              : std::span<const Number>(reinterpret_cast<const Number*>(memory.data()),
                                                        memory.size() / sizeof(Number));
  };
  const auto out = [&]<class Number>(Number) {
    return options.has_arrays
               ? plan.template output_array<Number>()
               : std::span<Number>(reinterpret_cast<Number*>(memory.data()), memory.size() / sizeof(Number));
  };
  const auto run = [&] {
    switch (options.type) {
      case Type::c2c:
        plan.forward(in(Complex()), out(Complex()));
        break;
      case Type::r2c:
        plan.forward(in(Real()), out(Complex()));
        break;
      case Type::r2r:
        plan.forward(in(Real()), out(Real()));
        break;
    }
  };
  run();
  double best_s = 0;
  double spent_s = 0;
  for (int i = 0; i < max_calls && spent_s < enough_s; ++i) {
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
  const auto known = options.wisdom ? options.wisdom->find(problem) : std::nullopt;
  const Candidate answer = team.all_gather(known.value_or(Candidate{})).front();
  // How much is deferred follows from what the network reaches, which each run measures anew.
  const auto same = [&](const Candidate& candidate) {
    Tuning tuning = candidate.tuning;
    if (tuning.deferred_parts > 0 && answer.tuning.deferred_parts > 0) {
      tuning.deferred_parts = answer.tuning.deferred_parts;
    }
    return tuning == answer.tuning;
  };
  if (const auto found = std::ranges::find_if(candidates, same); found != candidates.end()) {
    found->tuning = answer.tuning;
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
    const double time_s = time_plan<Real>(team, fixed(options, candidate.tuning));
    candidate.measured_s = candidate.measured_s > 0 ? std::min(candidate.measured_s, time_s) : time_s;
  }
  std::ranges::stable_sort(candidates, [](const Candidate& a, const Candidate& b) {
    return (a.measured_s > 0) != (b.measured_s > 0) ? a.measured_s > 0 : a.measured_s < b.measured_s;
  });
  if (options.wisdom) {
    options.wisdom->keep(problem, candidates.front());
  }
  return candidates;
}

template std::vector<Candidate> measure_candidates<float>(const gas::Team&, const Options&, const std::string&,
                                                          std::vector<Candidate>);
template std::vector<Candidate> measure_candidates<double>(const gas::Team&, const Options&, const std::string&,
                                                           std::vector<Candidate>);

}  // namespace penstock::fft

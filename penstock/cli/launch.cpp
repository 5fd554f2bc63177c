#include "penstock/cli/launch.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <new>
#include <set>
#include <string_view>
#include <vector>

#include "penstock/base/base.hpp"

namespace penstock::cli {
namespace {

// The limit of thread ranks: each has stacks, barriers and at least one thread.
constexpr int most_thread_ranks = 1024;

/// Where a rank runs, and on which processors it may.
struct Place {
  std::array<char, 64> host{};
  cpu_set_t processors{};
};

/// Collective.
std::vector<Place> find_places(const gas::Team& team) {
  Place mine;
  gethostname(mine.host.data(), mine.host.size() - 1);
  sched_getaffinity(0, sizeof mine.processors, &mine.processors);
  return team.all_gather(mine);
}

int count_nodes(const std::vector<Place>& places) {
  std::set<std::string_view> hosts;
  for (const Place& place : places) {
    hosts.insert(place.host.data());
  }
  return static_cast<int>(hosts.size());
}

/// Usable processors over the ranks that share them: the smallest such share of all ranks, at least 1.
int share_of_processors(const std::vector<Place>& places) {
  int smallest = CPU_SETSIZE;
  for (const Place& place : places) {
    // Launchers bind ranks to processors of their own, or let them share: ranks with the same mask share it.
    const auto sharers = std::count_if(places.begin(), places.end(), [&](const Place& other) {
      return other.host == place.host && CPU_EQUAL(&other.processors, &place.processors);
    });
    smallest = std::min(smallest, CPU_COUNT(&place.processors) / static_cast<int>(sharers));
  }
  return std::max(smallest, 1);
}

/// Runs the body on one rank and says how it ended.
Outcome run_on(Processes& processes, Interruption& interruption, gas::Team& team, const CommonOptions& options,
               const std::function<void(Session&)>& body) {
  Session session{.team = team, .options = options, .processes = processes, .interruption = interruption};
  const auto failed = [&](std::string_view what) { return Outcome{session.has_begun_work ? 1 : 2, std::string(what)}; };
  try {
    const std::vector<Place> places = find_places(team);
    session.threads = options.threads > 0 ? options.threads : share_of_processors(places);
    session.nodes = count_nodes(places);
    body(session);
    return {};
  } catch (const std::bad_alloc&) {
    return failed(fmt::format("rank {} has run out of memory", team.rank()));
  } catch (const gas::PeerFailure& failure) {
    processes.end_all(failure);
  } catch (const std::exception& error) {
    return failed(error.what());
  }
}

/// A rank's failure on its way through gas::run_world, which then stops the other ranks.
struct RankFailure {
  Outcome outcome;
};

Outcome run_as_threads(Processes& processes, Interruption& interruption, int ranks, const CommonOptions& options,
                       const std::function<void(Session&)>& body) {
  if (ranks > most_thread_ranks) {
    return {2, fmt::format("--ranks {}: at most {} ranks run as threads of one process", ranks, most_thread_ranks)};
  }
  try {
    gas::run_world(ranks, [&](gas::Team& team) {
      const Outcome outcome = run_on(processes, interruption, team, options, body);
      if (outcome.status != 0) {
        throw RankFailure{outcome};
      }
    });
    return {};
  } catch (const RankFailure& failure) {
    return failure.outcome;
  } catch (const std::bad_alloc&) {
    return {1, "out of memory"};
  } catch (const std::exception& error) {
    return {2, error.what()};
  }
}

Outcome run_over_mpi(Processes& processes, Interruption& interruption, const std::string& transport,
                     const CommonOptions& options, const std::function<void(Session&)>& body) {
#if PENSTOCK_HAS_MPI
  try {
    processes.start_mpi();
    gas::Team team = gas::world_of(MPI_COMM_WORLD, gas::reach_named(transport));
    return run_on(processes, interruption, team, options, body);
  } catch (const std::exception& error) {
    return {2, error.what()};
  }
#else
  static_cast<void>(transport);
  static_cast<void>(interruption);
  static_cast<void>(options);
  static_cast<void>(body);
  try {
    processes.start_mpi();
    return {};
  } catch (const Error& error) {
    return {2, error.what()};
  }
#endif
}

}  // namespace

Outcome launch(Processes& processes, Interruption& interruption, const CommonOptions& options,
               const std::function<void(Session&)>& body) {
  TransportChoice transport;
  try {
    transport = settle_transport(processes, options.transport);
  } catch (const Error& error) {
    return {2, error.what()};
  }
  if (processes.size() > 1) {
    if (transport.name == "threads") {
      return {2, fmt::format("{} is for ranks of one process, and the launcher started {}: start one process with "
                             "--ranks {}, or use another transport",
                             transport.told_by, processes.size(), processes.size())};
    }
    if (options.ranks > 0 && options.ranks != processes.size()) {
      return {2, fmt::format("--ranks {} differs from the {} processes that the launcher started: leave it out, or "
                             "start one process",
                             options.ranks, processes.size())};
    }
    return run_over_mpi(processes, interruption, transport.name, options, body);
  }
  const bool wants_mpi = transport.name != "auto" && transport.name != "threads";
  const int ranks = std::max(options.ranks, 1);
  if (wants_mpi && ranks > 1) {
    return {2, fmt::format("{} needs a process for each rank: start them with mpirun -n {}, or use --transport threads",
                           transport.told_by, ranks)};
  }
  if (wants_mpi) {
    return run_over_mpi(processes, interruption, transport.name, options, body);
  }
  return run_as_threads(processes, interruption, ranks, options, body);
}

}  // namespace penstock::cli

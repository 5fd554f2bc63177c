#include "penstock/cli/core/launch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string_view>

#include "penstock/base/base.hpp"
#include "penstock/cli/report/result_file.hpp"
#include "penstock/cli/report/timeline_report.hpp"

namespace penstock::cli {
namespace {

// The limit of thread ranks: each has stacks, barriers and at least one thread.
constexpr int max_thread_ranks = 1024;

/// The threads that OMP_NUM_THREADS asks for, at the outermost of its levels; 0 where it asks for none.
int asked_by_environment() {
  const char* const text = std::getenv("OMP_NUM_THREADS");
  int threads = 0;
  if (text == nullptr || std::from_chars(text, text + std::strlen(text), threads).ec != std::errc()) {
    return 0;
  }
  return std::max(threads, 0);
}

/// Collective: how many threads each rank runs, the same on all.
int resolve_threads(const gas::Team& team, int asked) {
  if (asked > 0) {
    return asked;
  }
  const int by_environment = std::ranges::min(team.all_gather(asked_by_environment()));
  return by_environment > 0 ? by_environment : std::ranges::min(team.placement().processors);
}

/// Runs the body on one rank and says how it ended.
Outcome run_on(Processes& processes, Interruption& interruption, gas::Team& team, const CommonOptions& options,
               const std::function<void(Session&)>& body) {
  Session session{.team = team, .options = options, .processes = processes, .interruption = interruption};
  const auto failed = [&](std::string_view what) { return Outcome{session.has_begun_work ? 1 : 2, std::string(what)}; };
  try {
    session.threads = resolve_threads(team, options.threads);
    session.nodes = gas::Placement::count(team.placement().nodes);
    refuse_equal_paths({options.json_path, options.report_path, options.trace_path});
    ResultFile trace_file(session, "--trace", options.trace_path);
    if (!options.trace_path.empty() || !options.report_path.empty()) {
      session.timeline.emplace(team, session.threads);
    }
    body(session);
    write_timeline(session, trace_file);
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
  if (ranks > max_thread_ranks) {
    return {2, fmt::format("--ranks {}: at most {} ranks run as threads of one process", ranks, max_thread_ranks)};
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
    transport = resolve_transport(processes, options.transport);
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

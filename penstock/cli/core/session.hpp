// What the body of a subcommand runs in: its rank's team, its threads, and where its results go.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "penstock/cli/core/interruption.hpp"
#include "penstock/cli/core/processes.hpp"
#include "penstock/cli/core/transport_choice.hpp"
#include "penstock/gas/gas.hpp"
#include "penstock/timeline/timeline.hpp"

namespace penstock::cli {

/// Options that every distributed subcommand takes, and the others the last of.
struct CommonOptions {
  TransportChoice transport;
  int ranks = 0;    ///< 0: what the launcher started, else 1
  int threads = 0;  ///< of each rank; 0: what OMP_NUM_THREADS says, else the usable processors, shared
  std::vector<std::string> arguments;  ///< of the command, as they were given
  std::string json_path;               ///< empty: no JSON; "-": standard output, instead of the table
  std::string report_path;             ///< of the page; empty: none
  std::string trace_path;              ///< of a distributed subcommand: empty: no timeline
};

/// One rank's view of a run.
struct Session {
  gas::Team& team;
  const CommonOptions& options;
  Processes& processes;
  Interruption& interruption;
  int threads = 1;  ///< of each rank, settled
  int nodes = 1;    ///< on which the ranks run
  /// Set by the body once its arguments have proved usable: a failure is one of the run (status 1) from then on.
  bool has_begun_work = false;
  std::optional<timeline::Timeline> timeline = {};  ///< where the run is recorded

  /// Where the body records what it times, for --trace; nullptr: nowhere.
  trace::Recorder* recorder() noexcept { return options.trace_path.empty() ? nullptr : page_recorder(); }
  /// The same of a body whose page shows the timeline, for --report as well.
  trace::Recorder* page_recorder() noexcept { return timeline ? &timeline->recorder() : nullptr; }

  /// Whether this rank prints.
  bool is_first() const noexcept { return team.rank() == 0; }
  /// Whether this rank prints the table for people.
  bool has_table() const noexcept { return is_first() && options.json_path != "-"; }
};

}  // namespace penstock::cli

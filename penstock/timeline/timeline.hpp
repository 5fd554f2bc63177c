// The timeline of a run: what all ranks have recorded, on one clock, as JSON for viewers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/base/trace.hpp"
#include "penstock/gas/gas.hpp"
#include "penstock/timeline/clocks.hpp"

#pragma GCC visibility push(default)

namespace penstock::timeline {

/// What a timeline says of the run besides its events.
struct Heading {
  std::string version;                      ///< of Penstock
  std::vector<std::string> arguments = {};  ///< of the command
};

/// A timeline, on rank 0.
struct Collected {
  std::string json;          ///< empty on the other ranks, as the counts are 0 there
  std::int64_t events = 0;   ///< that the JSON has
  std::int64_t dropped = 0;  ///< that were not kept: see Recorder
};

/// Records the run of a team. The team must outlive it.
class Timeline {
 public:
  /// Collective. Memory is bounded: all ranks together keep some 2^20 events of `threads` threads each, 64 MiB, and a
  /// thread 2^18. Measures how the clocks of the nodes differ.
  Timeline(const gas::Team& team, int threads);

  /// Where this rank's threads record: see trace::Recording.
  trace::Recorder& recorder() noexcept { return recorder_; }

  /// Collective, while no thread records: the events of all ranks in the Trace Event Format, which chrome://tracing and
  /// ui.perfetto.dev show. With `step`, those alone that overlap with steps of that name ("forward 3"). Throws Error on
  /// every rank where one has no memory.
  ///
  /// Each rank is a process, and each of its tracks a thread. A wait that names no rank is given the one that ended it:
  /// the sender of the last change of its signal, or the last to begin the same collective call. Arrows lead from there
  /// to the end of the wait.
  Collected collect(const Heading& heading, std::string_view step = {});

 private:
  const gas::Team& team_;
  trace::Recorder recorder_;
  Clock begun_;  // against that of rank 0
};

}  // namespace penstock::timeline

#pragma GCC visibility pop

// Parcels, and the run of a program of them. Included by percolate.hpp.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "penstock/percolate/levels.hpp"
#include "penstock/percolate/transfer.hpp"

#pragma GCC visibility push(default)

namespace penstock::percolate {

/// A transfer inward, into a slot.
struct Arrival {
  Slot slot;
  Transfer transfer;
  /// A further slot or token that the arrival uses: the arrival waits for all earlier parcels that change that slot.
  /// For data in a file that an earlier parcel writes.
  std::optional<Slot> after = {};
};

/// A piece of data with the function that will use it. A parcel goes through four phases:
///
/// 1. requested: it is drawn from the program; each arrival begins as soon as its slot is free
/// 2. enabled: all its arrivals are there and the slots that it uses are ready; `work` runs on a worker
/// 3. retired: `work` has returned; `outward` begins
/// 4. gone: `outward` is done, and its slots are free for the next parcels
///
/// The program's order says what "free" and "ready" mean, as in a processor that executes out of order: a parcel sees
/// its slots as if all parcels before it were gone and none after it had come. A slot that a parcel changes is not used
/// or changed by any other parcel until that one is gone. A slot that a parcel uses, the slots of its arrivals
/// included, may be used by other parcels at the same time.
struct Parcel {
  std::string label;
  std::vector<Arrival> inward = {};
  std::vector<Slot> uses = {};  ///< besides those of `inward`
  std::vector<Slot> changes = {};
  std::function<void()> work = {};  ///< may be none
  std::vector<Transfer> outward = {};
};

/// Returns the parcels in order, one a call, then none. Any thread of the run calls it, under a lock; a program must
/// neither block nor call into the run.
using Program = std::function<std::optional<Parcel>()>;

struct RunOptions {
  int workers = 1;  ///< threads that run works, the caller's among them
  int window = 64;  ///< max number of parcels that have been drawn and are not gone
};

/// What a run has done, and where its time went.
struct RunTimes {
  double total_s = 0;
  double work_s = 0;  ///< of all workers together, in functions
  double idle_s = 0;  ///< of all workers together, waiting for a parcel to be enabled
  std::int64_t parcels = 0;
  std::int64_t read_bytes = 0;
  std::int64_t written_bytes = 0;
};

/// Runs the program to its end and returns then; the caller's thread is the first worker. `slots` and what the parcels
/// name must live until then. Throws Error for less than 1 worker or a window of less than 1 parcel.
///
/// Where the caller records (see trace::Recording), works are events of the worker's track, and transfers of tracks of
/// the slots that they fill ("slot NAME") or of what leaves ("outward N"). Each event names the one that it waited for.
///
/// Where a transfer or a work fails, the run begins nothing new, waits for what is under way, and throws the first
/// failure.
RunTimes run(const Slots& slots, Engine& engine, const Program& program, const RunOptions& options = {});

}  // namespace penstock::percolate

#pragma GCC visibility pop

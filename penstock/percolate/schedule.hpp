// Parcels, and the run of a program of them. Included by percolate.hpp.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "penstock/percolate/levels.hpp"
#include "penstock/percolate/trace.hpp"
#include "penstock/percolate/transfer.hpp"

namespace penstock::percolate {

/// A transfer inward, into a slot.
struct Arrival {
  Slot slot;
  Transfer transfer;
  /// A slot or token that it reads besides, so that it comes after the parcels before that change it: for what lies in
  /// a file that an earlier parcel writes.
  std::optional<Slot> after = {};
};

/// A piece of data with the function that will use it. Its phases, each of which waits for what it needs and for
/// nothing else:
///
/// 1. requested: it is drawn from the program; each arrival begins as soon as its slot is free
/// 2. enabled: all arrivals are there, and what it uses is ready: `work` runs on a worker
/// 3. retired: `work` has returned; `outward` begins
/// 4. gone: `outward` is done, and the slots are free for the next
///
/// The program's order says what "free" and "ready" mean, as in a processor that executes out of order: a parcel sees
/// its slots as if all parcels before it had gone and none after it had come. What it changes, no other parcel uses or
/// changes until it is gone; what it uses (and all that arrived for it), others may use at the same time.
struct Parcel {
  std::string label;
  std::vector<Arrival> inward = {};
  std::vector<Slot> uses = {};  ///< besides those of `inward`
  std::vector<Slot> changes = {};
  std::function<void()> work = {};  ///< may be none
  std::vector<Transfer> outward = {};
};

/// The parcels in order, one a call, then none. Called under a lock by whatever thread has room for one; must neither
/// block nor call what runs it.
using Program = std::function<std::optional<Parcel>()>;

struct RunOptions {
  int workers = 1;         ///< threads that run works, the caller's among them
  int window = 64;         ///< parcels that have been drawn and are not gone
  Trace* trace = nullptr;  ///< filled where there is one
};

/// Where the time went.
struct RunTimes {
  double total_s = 0;
  double work_s = 0;  ///< of all workers together, in functions
  double idle_s = 0;  ///< of all workers together, waiting for a parcel to be enabled
  std::int64_t parcels = 0;
  std::int64_t read_bytes = 0;
  std::int64_t written_bytes = 0;
};

/// Walks the program to its end; the caller's thread is the first worker. `slots` and what the parcels name must live
/// until then.
///
/// Where a transfer or a work fails, nothing new is begun, what is under way is waited for, and the first failure is
/// thrown.
RunTimes run(const Slots& slots, Engine& engine, const Program& program, const RunOptions& options = {});

}  // namespace penstock::percolate

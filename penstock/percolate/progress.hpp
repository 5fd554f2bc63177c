// The progress of a program of parcels. Included by percolate.hpp.
#pragma once

#include <functional>

#include "penstock/percolate/schedule.hpp"

#pragma GCC visibility push(default)

namespace penstock::percolate {

/// The progress of a run, in the unit that its user counts: flops, bytes.
struct Progress {
  double done = 0;
  double total = 0;  ///< of this run: without what an earlier run has done
  double elapsed_s = 0;
  /// The time until the end, at the rate so far; 0 where nothing is done yet.
  double left_s() const noexcept { return done > 0 ? elapsed_s * (total - done) / done : 0; }
};

/// Called some times a second, by one thread at a time.
using ProgressCallback = std::function<void(const Progress&)>;

/// A program of the same parcels that reports progress as they are drawn, at most five times a second: it calls `tell`
/// with what `measure` returns, under the lock of the run. `measure` and `tell` live as long as the program. Where
/// `tell` is empty, returns `program` as it is.
Program with_progress(Program program, std::function<Progress()> measure, ProgressCallback tell);

}  // namespace penstock::percolate

#pragma GCC visibility pop

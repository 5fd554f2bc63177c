// How far a program of parcels is. Included by percolate.hpp.
#pragma once

#include <functional>

#include "penstock/percolate/schedule.hpp"

namespace penstock::percolate {

/// How far a run is, in whatever its user counts: flops, bytes.
struct Progress {
  double done = 0;
  double total = 0;  ///< of this run: without what an earlier one had done
  double elapsed_s = 0;
  /// Until the end, if it goes on as it has gone.
  double left_s() const noexcept { return done > 0 ? elapsed_s * (total - done) / done : 0; }
};

/// Called now and then, by one thread at a time.
using ProgressCallback = std::function<void(const Progress&)>;

/// The same program, which tells how far it is about five times a second as its parcels are drawn. `measure` gives what
/// is done and the total; both it and `tell` live as long as the program. Nothing is told where `tell` is empty.
Program with_progress(Program program, std::function<Progress()> measure, ProgressCallback tell);

}  // namespace penstock::percolate

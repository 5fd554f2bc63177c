#include "penstock/percolate/progress.hpp"

#include <utility>

#include "penstock/base/clock.hpp"

namespace penstock::percolate {

Program with_progress(Program program, std::function<Progress()> measure, ProgressCallback tell) {
  if (!tell) {
    return program;
  }
  return [program = std::move(program), measure = std::move(measure), tell = std::move(tell),
          last_s = seconds()]() mutable {
    constexpr double pause_s = 0.2;
    // Under the run's lock, so that it is told by one thread at a time.
    if (const double now_s = seconds(); now_s - last_s > pause_s) {
      last_s = now_s;
      tell(measure());
    }
    return program();
  };
}

}  // namespace penstock::percolate

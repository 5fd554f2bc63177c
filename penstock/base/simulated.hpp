// Whether this build runs in a simulator, and time and waiting there: see docs/simulation.md.
#pragma once

#include "penstock/base/config.hpp"

namespace penstock {

/// Ranks are threads of execution of one process, of which one runs at a time until it waits in a call of the
/// simulator; time is simulated.
inline constexpr bool is_simulated = PENSTOCK_IS_SIMULATED != 0;

#if PENSTOCK_IS_SIMULATED
/// Simulated seconds.
double seconds() noexcept;

/// Waits by letting simulated time pass: nothing else would, and whoever is waited for would never run. Pauses grow
/// with the wait, so that its end is seen late by a tenth of it, or two microseconds, and a long wait is few pauses.
class Backoff {
 public:
  Backoff() = default;
  explicit Backoff(int /*max_spins*/) {}
  bool is_sleeping() const noexcept { return false; }
  void pause();

 private:
  double waited_s_ = 0;
};
#endif

}  // namespace penstock

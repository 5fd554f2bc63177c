// Whether this build runs in a simulator, and the simulator's clock and waiting: see docs/simulation.md.
#pragma once

#include "penstock/base/config.hpp"

#pragma GCC visibility push(default)

namespace penstock {

/// Whether the program runs in a simulator. Its ranks are then threads of execution of one process, which run one at a
/// time, each until it waits in a call of the simulator. Time is simulated.
inline constexpr bool is_simulated = PENSTOCK_IS_SIMULATED != 0;

#if PENSTOCK_IS_SIMULATED
/// Simulated seconds.
double seconds() noexcept;

/// Pauses by letting simulated time pass: otherwise the rank that is waited for would never run. A pause lasts a tenth
/// of the wait so far, and two microseconds at least. The end of a wait is noticed late by one pause at most, and a
/// long wait takes few pauses.
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

#pragma GCC visibility pop

// How a thread waits for memory that another rank or thread will write.
#pragma once

#include <algorithm>
#include <chrono>
#include <thread>

#include "penstock/base/simulated.hpp"

namespace penstock {

/// Tells the processor that this is a spin loop.
inline void relax() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

#if !PENSTOCK_IS_SIMULATED
/// Waits a little longer each time: spins for some microseconds, then yields, then sleeps, so that a message is seen
/// at cache-line speed where ranks have cores of their own and more ranks than cores still run well. Sleeps grow with
/// the wait, from 50 us to a millisecond: its end is seen late by a sixty-fourth of it or 50 us, and whoever computes
/// meanwhile is seldom interrupted.
class Backoff {
 public:
  Backoff() = default;
  /// Spins no more than this often: where much is done between two pauses, and, with 0, where threads that wait for one
  /// another outnumber the processors.
  explicit Backoff(int max_spins) : pauses_(spins - max_spins) {}

  /// Whether the next pause is a sleep: after some milliseconds.
  bool is_sleeping() const noexcept { return pauses_ >= spins + yields; }

  /// Returns after a pause that suits the number of pauses so far.
  void pause() {
    ++pauses_;
    if (pauses_ < spins) {
      relax();
    } else if (pauses_ < spins + yields) {
      std::this_thread::yield();
    } else {
      const auto sleep = std::clamp(slept_ / 64, shortest_sleep, longest_sleep);
      std::this_thread::sleep_for(sleep);
      slept_ += sleep;
    }
  }

 private:
  // About 10 us of spinning (a pause instruction takes 20 to 40 ns), then about 1 ms of yielding before the first
  // sleep.
  static constexpr int spins = 300;
  static constexpr int yields = 1000;
  static constexpr std::chrono::microseconds shortest_sleep{50};
  static constexpr std::chrono::microseconds longest_sleep{1000};
  int pauses_ = 0;
  std::chrono::microseconds slept_{0};
};
#endif

/// Returns once `is_done()` is true, waiting by Backoff in between.
template <class Condition>
void wait_until(Condition is_done) {
  for (Backoff backoff; !is_done();) {
    backoff.pause();
  }
}

}  // namespace penstock

// How a thread waits for memory that another rank or thread will write.
#pragma once

#include <algorithm>
#include <chrono>
#include <thread>

#include "penstock/base/simulated.hpp"

#pragma GCC visibility push(default)

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
/// Pauses a thread that polls, between one poll and the next. The first pauses spin (some microseconds in all), the
/// next ones yield the processor, all later ones sleep. Spinning sees a message at cache-line speed where each rank has
/// a core; yielding and sleeping free the core where ranks outnumber cores. A sleep lasts a sixty-fourth of the time
/// slept so far, from 50 us to a millisecond: the wait's end is noticed late by one sleep at most, and threads that
/// compute meanwhile are seldom interrupted.
class Backoff {
 public:
  Backoff() = default;
  /// Lets no more than the first `max_spins` pauses spin: for threads that do much between two pauses. 0 is for threads
  /// that wait for one another and outnumber the processors.
  explicit Backoff(int max_spins) : pauses_(spins - max_spins) {}

  /// Whether the last pause was a sleep, as all later ones are: after some milliseconds.
  bool is_sleeping() const noexcept { return pauses_ >= spins + yields; }

  /// Spins, yields or sleeps, by the number of pauses so far.
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

/// Returns once `is_done()` is true; a Backoff pauses between two polls.
template <class Condition>
void wait_until(Condition is_done) {
  for (Backoff backoff; !is_done();) {
    backoff.pause();
  }
}

}  // namespace penstock

#pragma GCC visibility pop

// Threads that measure, each on a processor of its own: two on one would each get half of it. Private to the module.
#pragma once

#include <sched.h>

#include <cstddef>
#include <functional>
#include <vector>

#include "penstock/base/base.hpp"

namespace penstock::measure {

/// A crew whose threads are bound, one to a core as far as there are cores; the calling thread, too, as long as it
/// lives.
class PinnedCrew {
 public:
  explicit PinnedCrew(int threads);
  ~PinnedCrew() { sched_setaffinity(0, sizeof before_, &before_); }
  PinnedCrew(const PinnedCrew&) = delete;
  PinnedCrew& operator=(const PinnedCrew&) = delete;

  int size() const noexcept { return crew_.size(); }
  void run(const std::function<void(int)>& work) { crew_.run(work); }

 private:
  cpu_set_t before_{};
  Crew crew_;
};

}  // namespace penstock::measure

// Threads that measure, each on a processor of its own: two on one would each get half of it. Private to the module.
#pragma once

#include <sched.h>

#include <cstddef>
#include <functional>
#include <vector>

#include "penstock/base/base.hpp"

namespace penstock::probe {

/// A thread pool whose threads are bound, one to a core as far as there are cores; the calling thread, too, as long as
/// it lives.
class PinnedPool {
 public:
  explicit PinnedPool(int threads);
  ~PinnedPool() { sched_setaffinity(0, sizeof before_, &before_); }
  PinnedPool(const PinnedPool&) = delete;
  PinnedPool& operator=(const PinnedPool&) = delete;

  int size() const noexcept { return pool_.size(); }
  void run(const std::function<void(int)>& work) { pool_.run(work); }

 private:
  cpu_set_t before_{};
  ThreadPool pool_;
};

}  // namespace penstock::probe

// Threads that measure, each on a processor of its own: two on one would each get half of it. Private to the module.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/probe/samples.hpp"

namespace penstock::probe {

/// A thread pool whose threads are bound, one to a core as far as there are cores; the calling thread, too, as long as
/// it lives.
class PinnedPool {
 public:
  explicit PinnedPool(int threads);
  ~PinnedPool() { before_.bind_this_thread(); }
  PinnedPool(const PinnedPool&) = delete;
  PinnedPool& operator=(const PinnedPool&) = delete;

  int size() const noexcept { return pool_.size(); }
  void run(const std::function<void(int)>& work) { pool_.run(work); }

 private:
  ProcessorSet before_ = ProcessorSet::of_this_thread();
  ThreadPool pool_;
};

/// Seconds of one repetition, of each sample, where all threads of the pool do their parts so many times.
inline std::vector<double> sample(const CalibrationOptions& options, PinnedPool& pool,
                                  const std::function<void(int thread, std::int64_t times)>& part) {
  return sample(options, [&](std::int64_t times) {
    const double begin_s = seconds();
    pool.run([&](int thread) { part(thread, times); });
    return seconds() - begin_s;
  });
}

/// 1, 2, 4, ... below `threads`, and `threads`.
inline std::vector<int> thread_counts(int threads) {
  std::vector<int> counts;
  for (int count = 1; count < threads; count *= 2) {
    counts.push_back(count);
  }
  counts.push_back(threads);
  return counts;
}

}  // namespace penstock::probe

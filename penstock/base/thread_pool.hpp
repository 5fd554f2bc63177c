// The threads of one rank, started once and woken for each piece of work.
#pragma once

#include <functional>
#include <memory>
#include <thread>

#pragma GCC visibility push(default)

namespace penstock {

/// A fixed number of threads that run one function together; the calling thread is number 0.
///
/// Movable, not copyable; joins its threads on destruction. Not thread-safe: one run at a time.
class ThreadPool {
 public:
  /// Starts `threads - 1` threads that wait for work. Throws Error when `threads` < 1 or the system refuses a thread.
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(ThreadPool&&) noexcept;
  ThreadPool& operator=(ThreadPool&&) noexcept;

  /// The number of threads, the caller's included.
  int size() const noexcept;

  /// Calls `work(i)` once for each i in [0, size()), each on its own thread, and returns when all have returned.
  /// If calls throw, the exception of the smallest i is rethrown after all have ended.
  void run(const std::function<void(int)>& work);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Starts a thread that runs `work`. Throws Error when the system refuses the thread.
std::thread start_thread(std::function<void()> work);

}  // namespace penstock

#pragma GCC visibility pop

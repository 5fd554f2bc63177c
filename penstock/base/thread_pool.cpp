#include "penstock/base/thread_pool.hpp"

#include <atomic>
#include <cstdint>
#include <exception>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "penstock/base/error.hpp"
#include "penstock/base/trace.hpp"
#include "penstock/base/wait.hpp"

namespace penstock {

struct ThreadPool::State {
  // `started` counts runs; a thread that sees it grow runs `work` once, then adds one to `finished`. An idle thread
  // spins briefly and then sleeps in the kernel (atomic wait), so an idle thread pool costs nothing.
  std::atomic<std::uint32_t> started{0};
  std::atomic<int> finished{0};
  bool is_ending = false;
  const std::function<void(int)>* work = nullptr;
  trace::Recorder* recorder = nullptr;  // that of the thread that runs the work
  std::vector<std::exception_ptr> failures;
  std::vector<std::thread> threads;

  void perform(int index) noexcept {
    try {
      const trace::Recording recording(index > 0 ? recorder : nullptr, index);
      (*work)(index);
    } catch (...) {
      failures[static_cast<std::size_t>(index)] = std::current_exception();
    }
  }

  void serve(int index) {
    for (std::uint32_t seen = 0;; ++seen) {
      for (int i = 0; i < 2000 && started.load(std::memory_order_acquire) == seen; ++i) {
        relax();
      }
      started.wait(seen, std::memory_order_acquire);
      if (is_ending) {
        return;
      }
      perform(index);
      finished.fetch_add(1, std::memory_order_release);
    }
  }

  void start() {
    started.fetch_add(1, std::memory_order_release);
    started.notify_all();
  }

  void end() {
    is_ending = true;
    start();
    for (std::thread& thread : threads) {
      thread.join();
    }
    threads.clear();
  }
};

std::thread start_thread(std::function<void()> work) {
  try {
    return std::thread(std::move(work));
  } catch (const std::system_error& failure) {
    throw Error(std::string("cannot start a thread: ") + failure.what());
  }
}

ThreadPool::ThreadPool(int threads) {
  if (threads < 1) {
    throw Error("a pool of " + std::to_string(threads) + " threads: at least 1 is needed");
  }
  state_ = std::make_unique<State>();
  state_->failures.resize(static_cast<std::size_t>(threads));
  try {
    for (int i = 1; i < threads; ++i) {
      state_->threads.push_back(start_thread([state = state_.get(), i] { state->serve(i); }));
    }
  } catch (...) {
    state_->end();
    throw;
  }
}

ThreadPool::~ThreadPool() {
  if (state_) {
    state_->end();
  }
}

ThreadPool::ThreadPool(ThreadPool&&) noexcept = default;

ThreadPool& ThreadPool::operator=(ThreadPool&& other) noexcept {
  std::swap(state_, other.state_);
  return *this;
}

int ThreadPool::size() const noexcept {
  return static_cast<int>(state_->failures.size());
}

void ThreadPool::run(const std::function<void(int)>& work) {
  State& state = *state_;
  state.work = &work;
  state.recorder = trace::this_recorder();
  state.finished.store(0, std::memory_order_relaxed);
  if (!state.threads.empty()) {
    state.start();
  }
  state.perform(0);
  const int others = static_cast<int>(state.threads.size());
  wait_until([&] { return state.finished.load(std::memory_order_acquire) == others; });
  for (std::exception_ptr& failure : state.failures) {
    if (failure) {
      const std::exception_ptr first = std::exchange(failure, nullptr);
      for (std::exception_ptr& other : state.failures) {
        other = nullptr;
      }
      std::rethrow_exception(first);
    }
  }
}

}  // namespace penstock

// The thread that serves a rank's peers while the rank computes.
#include <sys/prctl.h>

#include <exception>

#include "penstock/base/base.hpp"
#include "penstock/gas/core/engine.hpp"
#include "penstock/gas/core/team_parts.hpp"
#include "penstock/gas/gas.hpp"

namespace penstock::gas {

ProgressThread::ProgressThread(const Team& team, std::chrono::microseconds pause) {
  if (!team.allows_threads()) {
    throw Error(
        "a progress thread calls MPI beside the rank's own threads, and the program initialised MPI for a single one: "
        "ask MPI_Init_thread for MPI_THREAD_SERIALIZED or MPI_THREAD_MULTIPLE");
  }
  thread_ = std::jthread([this, &engine = *team.parts().engine, pause](const std::stop_token& stop) {
    prctl(PR_SET_TIMERSLACK, 1);  // the default would make of each pause at least 50 us more
    try {
      while (!stop.stop_requested()) {
        is_resting_.wait(true, std::memory_order_relaxed);
        engine.progress();
        if (pause.count() > 0) {
          std::this_thread::sleep_for(pause);
        } else {
          std::this_thread::yield();
        }
      }
    } catch (...) {
      engine.fail(std::current_exception());
    }
  });
}

ProgressThread::~ProgressThread() {
  thread_.request_stop();
  resume();
}

void ProgressThread::resume() noexcept {
  is_resting_.store(false, std::memory_order_relaxed);
  is_resting_.notify_one();
}

}  // namespace penstock::gas

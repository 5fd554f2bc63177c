#include "penstock/fft/execution.hpp"

#include <algorithm>
#include <utility>

#include "penstock/base/base.hpp"

namespace penstock::fft {

Execution::Execution(std::unique_ptr<Work> work) noexcept : work_(std::move(work)) {}

Execution::~Execution() {
  try {
    wait();
  } catch (...) {
    // The call has failed: the program learns of it from its next call.
  }
}

Execution::Execution(Execution&&) noexcept = default;

bool Execution::progress() {
  if (work_ == nullptr) {
    return true;
  }
  // What has failed is not gone on with.
  std::unique_ptr<Work> work = std::move(work_);
  if (!work->step(false)) {
    work_ = std::move(work);
  }
  return work_ == nullptr;
}

void Execution::wait() {
  if (const std::unique_ptr<Work> work = std::move(work_)) {
    work->step(true);
  }
}

void wait_all(std::span<Execution> executions) {
  wait_until([&] {
    bool is_done = true;
    for (Execution& execution : executions) {
      is_done = execution.progress() && is_done;
    }
    return is_done;
  });
}

}  // namespace penstock::fft

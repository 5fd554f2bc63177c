#include "penstock/base/signals.hpp"

#include <cstddef>

namespace penstock {

SignalDispositions::SignalDispositions() noexcept {
  for (std::size_t signal = 1; signal < saved_.size(); ++signal) {
    struct sigaction action {};
    if (sigaction(static_cast<int>(signal), nullptr, &action) == 0) {
      saved_[signal] = action;
    }
  }
}

SignalDispositions::~SignalDispositions() {
  for (std::size_t signal = 1; signal < saved_.size(); ++signal) {
    if (saved_[signal].has_value()) {
      sigaction(static_cast<int>(signal), &*saved_[signal], nullptr);  // SIGKILL and SIGSTOP have but one disposition
    }
  }
}

}  // namespace penstock

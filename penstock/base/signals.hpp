// The process's dispositions of signals, saved and restored. Not included by base.hpp.
#pragma once

#include <array>
#include <csignal>
#include <optional>

#pragma GCC visibility push(default)

namespace penstock {

/// Saves the dispositions of all signals on construction and restores them on destruction: for calls of libraries that
/// install handlers unasked. No other thread may change dispositions in between.
class SignalDispositions {
 public:
  SignalDispositions() noexcept;
  ~SignalDispositions();
  SignalDispositions(const SignalDispositions&) = delete;
  SignalDispositions& operator=(const SignalDispositions&) = delete;

 private:
  std::array<std::optional<struct sigaction>, NSIG> saved_;  // by number; none where the system has no such signal
};

}  // namespace penstock

#pragma GCC visibility pop

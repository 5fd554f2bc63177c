// What the process does when a signal comes.
#pragma once

#include <array>
#include <csignal>
#include <optional>

namespace penstock {

/// The dispositions of all signals at its construction, which its destruction gives back to the process: to be kept
/// around calls of libraries that install handlers unasked. No other thread may change dispositions meanwhile.
class SignalDispositions {
 public:
  SignalDispositions() noexcept;
  ~SignalDispositions();
  SignalDispositions(const SignalDispositions&) = delete;
  SignalDispositions& operator=(const SignalDispositions&) = delete;

 private:
  std::array<std::optional<struct sigaction>, NSIG> saved_;  // by number; none where the system gives none
};

}  // namespace penstock

#include <gtest/gtest.h>

#include <csignal>

#include "penstock/base/signals.hpp"

namespace penstock {
namespace {

using Handler = void (*)(int);

Handler handler_of(int signal) {
  struct sigaction action {};
  sigaction(signal, nullptr, &action);
  return action.sa_handler;
}

TEST(SignalDispositions, AreGivenBack) {
  const Handler ended = std::signal(SIGUSR1, SIG_DFL);
  const Handler ignored = std::signal(SIGUSR2, SIG_IGN);
  {
    const SignalDispositions given_back;
    std::signal(SIGUSR1, [](int) {});
    std::signal(SIGUSR2, [](int) {});
  }
  EXPECT_EQ(handler_of(SIGUSR1), SIG_DFL);
  EXPECT_EQ(handler_of(SIGUSR2), SIG_IGN);
  std::signal(SIGUSR1, ended);
  std::signal(SIGUSR2, ignored);
}

}  // namespace
}  // namespace penstock

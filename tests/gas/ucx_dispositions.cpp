// A program that says, by its status, whether what signals do to it is left as it was: where it begins, linked with the
// library alone, and where it has had a world over UCX.
#include <mpi.h>

#include <array>
#include <csignal>
#include <cstdio>

#include "penstock/base/signals.hpp"
#include "penstock/gas/gas.hpp"

namespace {

/// Tells which signals have a handler; false where one has, or SIGHUP is not dealt with as `hangup` says.
bool are_untouched(const char* when, void (*hangup)(int)) {
  bool is_untouched = true;
  for (int signal = 1; signal < NSIG; ++signal) {
    struct sigaction action {};
    if (sigaction(signal, nullptr, &action) != 0) {
      continue;
    }
    const bool is_right =
        signal == SIGHUP ? action.sa_handler == hangup : action.sa_handler == SIG_DFL || action.sa_handler == SIG_IGN;
    if (!is_right) {
      std::fprintf(stderr, "signal %d has another disposition %s\n", signal, when);
      is_untouched = false;
    }
  }
  return is_untouched;
}

/// Whether others than we take signals before `main`: MPICH where it is linked with UCX, or a sanitizer.
#if defined(MPICH_VERSION) || defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool others_take_signals = true;
#else
constexpr bool others_take_signals = false;
#endif

void set_default() {
  for (int signal = 1; signal < NSIG; ++signal) {
    std::signal(signal, SIG_DFL);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (others_take_signals) {
    set_default();
  }
  bool is_untouched = are_untouched("at the beginning", SIG_DFL);
  std::signal(SIGHUP, SIG_IGN);
  {
    const penstock::SignalDispositions given_back;  // MPI may load UCX as well
    MPI_Init(&argc, &argv);
  }
  {
    const penstock::gas::Team team = penstock::gas::world_of(MPI_COMM_WORLD, penstock::gas::reach_named("ucx"));
    penstock::gas::Segment segment(team, 64, 1);
    segment.put_signal(penstock::gas::Pointer<int>{(team.rank() + 1) % team.size(), 0}, std::array{1}, 0);
    segment.wait(0, 1);
    team.barrier();
    is_untouched = are_untouched("after a world over UCX", SIG_IGN) && is_untouched;
  }
  MPI_Finalize();
  return is_untouched ? 0 : 1;
}

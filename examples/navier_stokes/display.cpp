#include "display.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <penstock/base/clock.hpp>

namespace navier_stokes {

// Back to the start of the line, and clear it (ECMA-48, EL).
constexpr const char* clear_line = "\r\x1b[K";

Display::Display(const penstock::gas::Team& team, const Options& options)
    : options_(options), is_shown_(team.rank() == 0), has_terminal_(is_shown_ && isatty(STDERR_FILENO) != 0) {
  if (is_shown_) {
    std::printf("%s\n", head_of_rows().c_str());
  }
}

void Display::show(const History& history) {
  const auto step = static_cast<std::int64_t>(history.size()) - 1;
  if (begin_step_ < 0) {
    begin_s_ = penstock::seconds();
    begin_step_ = step;
  }
  const std::int64_t steps = options_.steps();
  const std::int64_t every = std::max<std::int64_t>(steps / options_.rows, 1);
  if (has_terminal_) {
    std::fputs(clear_line, stderr);
  }
  if (is_shown_ && (step >= steps || step % every == 0)) {
    std::printf("%s\n", row_of(options_.parameters, history, history.size() - 1).c_str());
    std::fflush(stdout);
  }
  if (has_terminal_ && step > begin_step_ && step < steps) {
    const double step_s = (penstock::seconds() - begin_s_) / static_cast<double>(step - begin_step_);
    std::fprintf(stderr, "step %lld of %lld, %.0f s to go ...", static_cast<long long>(step),
                 static_cast<long long>(steps), step_s * static_cast<double>(steps - step));
  }
}

void print_times(const penstock::gas::Team& team, const Options& options, std::int64_t steps, double spent_s,
                 const penstock::fft::Breakdown& before, const Transforms& transforms) {
  penstock::fft::Breakdown spent = transforms.spent();
  spent.add(before, -1);
  std::array<double, 4> sums{spent_s, spent.total_s, spent.transform_s(), spent.move_s()};
  penstock::gas::all_reduce<double>(team, sums, std::span(sums), penstock::gas::Sum{});
  if (team.rank() != 0 || steps == 0) {
    return;
  }
  const auto percent = [&](std::size_t i) { return 100 * sums[i] / sums[0]; };
  std::printf("%lld^3 points, %d ranks x %d threads: %lld steps in %.2f s, %.2f ms a step\n",
              static_cast<long long>(options.parameters.n), team.size(), options.threads, static_cast<long long>(steps),
              spent_s, 1e3 * spent_s / static_cast<double>(steps));
  // Ranks and threads also wait where no component under way has anything to do, which no plan counts.
  std::printf(
      "in transforms: %.1f %% (rows %.1f, moves %.1f, waits for ranks and threads %.1f), %d components at a time\n",
      percent(1), percent(2), percent(3), percent(1) - percent(2) - percent(3), transforms.in_flight());
}

}  // namespace navier_stokes

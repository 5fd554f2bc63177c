// What the first rank prints of a run: rows as it goes on, on a terminal how long it still takes, at last the times.
#pragma once

#include <cstdint>
#include <penstock/fft/fft.hpp>
#include <penstock/gas/gas.hpp>

#include "history.hpp"
#include "options.hpp"

namespace navier_stokes {

class Display {
 public:
  /// Prints the head of the rows where this is the first rank. The options outlive it.
  Display(const penstock::gas::Team& team, const Options& options);

  /// Shows the last sample where its turn has come.
  void show(const History& history);

 private:
  const Options& options_;
  bool is_shown_;
  bool has_terminal_;
  double begin_s_ = 0;  // of this run, whose first sample
  std::int64_t begin_step_ = -1;
};

/// Collective: prints how long `steps` steps took and what part of it were transforms, but for what those had spent
/// `before`, as the mean of all ranks.
void print_times(const penstock::gas::Team& team, const Options& options, std::int64_t steps, double spent_s,
                 const penstock::fft::Breakdown& before, const Transforms& transforms);

}  // namespace navier_stokes

// The command line.
#pragma once

#include <cmath>
#include <cstdint>
#include <penstock/fft/fft.hpp>
#include <span>
#include <string>

#include "parameters.hpp"

namespace navier_stokes {

struct Options {
  Parameters parameters;
  double time = 10;
  std::string transport = "auto";  ///< what carries data between ranks, by its name
  int threads = 0;                 ///< of each rank; 0: all processors where there is one rank, else one
  /// What measuring chooses differs from run to run, and so do the last bits of results; by estimate a run gives the
  /// same ones each time, also when it was stopped and restarted.
  penstock::fft::Effort effort = penstock::fft::Effort::estimate;
  int rows = 20;  ///< printed, about
  std::string csv_path;
  std::string plot_path;
  std::string checkpoint_path;
  int checkpoint_every = 0;  ///< steps; 0: at the end alone
  std::string restart_path;
  bool is_checked = false;
  bool wants_help = false;

  /// The steps that reach `time`.
  std::int64_t steps() const { return static_cast<std::int64_t>(std::ceil(time / parameters.dt * (1 - 1e-12))); }
};

/// Throws penstock::Error, with one line that says what cannot be used and what would be.
Options read_options(std::span<char* const> arguments);

/// What --help prints.
std::string help();

}  // namespace navier_stokes

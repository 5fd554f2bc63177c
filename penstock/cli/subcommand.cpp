#include "penstock/cli/subcommand.hpp"

#include <array>

namespace penstock::cli {

std::span<const Subcommand> subcommands() {
  static constexpr std::array all{
      Subcommand{"fft", "Transform a field in three dimensions and report times, limit and error", declare_fft},
      Subcommand{"nas-ft", "Run the NAS FT benchmark and verify its published checksums", declare_nas_ft},
      Subcommand{"bench", "Measure what the machine and Penstock's parts reach, each beside its baselines",
                 declare_bench},
      Subcommand{"model", "Evaluate a model of a described machine: times, what bounds them, what more would gain",
                 declare_model, false},
      Subcommand{"reproduce", "Show the figures of the documents that Penstock comes from, ours beside theirs",
                 declare_reproduce, false},
  };
  return all;
}

}  // namespace penstock::cli

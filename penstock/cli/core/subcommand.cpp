#include "penstock/cli/core/subcommand.hpp"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <array>
#include <utility>
#include <vector>

#include "penstock/base/config.hpp"

namespace penstock::cli {

std::span<const Subcommand> subcommands() {
  static constexpr std::array all {
    Subcommand{"fft", "Transform a field in three dimensions and report times, limit and error", declare_fft},
#if PENSTOCK_HAS_GEMM
        Subcommand{"gemm", "Multiply matrices: in files, also larger than memory, or across ranks", declare_gemm},
#endif
        Subcommand{"nas-ft", "Run the NAS FT benchmark and verify its published checksums", declare_nas_ft},
        Subcommand{"bench", "Measure what the machine and Penstock's parts reach, each beside its baselines",
                   declare_bench},
        Subcommand{"calibrate", "Measure this machine, and between ranks its transports, and write its machine file",
                   declare_calibrate},
        Subcommand{"try", "Run a program as it is and with the libraries for preloading, and tell what these gain",
                   declare_try, false},
        Subcommand{"model", "Evaluate a model of a described machine: times, what bounds them, what more would gain",
                   declare_model, false},
#if PENSTOCK_HAS_PAGES
        Subcommand{"explore", "Write a page, for a browser, in which the models of all machines answer at once",
                   declare_explore, false, false},
#endif
        Subcommand{"compare", "Show the results of several runs beside each other, and how they scale", declare_compare,
                   false},
        Subcommand{"reproduce", "Show the figures of the documents that Penstock comes from, ours beside theirs",
                   declare_reproduce, false},
  };
  return all;
}

Body declare_group(CLI::App& app, std::span<const Subcommand> all) {
  std::vector<std::pair<CLI::App*, Body>> bodies;
  for (const Subcommand& subcommand : all) {
    CLI::App* sub = app.add_subcommand(subcommand.name, subcommand.summary);
    bodies.emplace_back(sub, subcommand.declare(*sub));
  }
  app.require_subcommand(1);
  return [bodies](Session& session) {
    for (const auto& [sub, body] : bodies) {
      if (sub->parsed()) {
        body(session);
      }
    }
  };
}

}  // namespace penstock::cli

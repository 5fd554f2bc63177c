// `penstock model`: what a described machine would take, and what holds it back; each model is a subcommand.
#include "penstock/cli/model.hpp"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <array>
#include <utility>
#include <vector>

namespace penstock::cli {

Body declare_model(CLI::App& app) {
  static constexpr std::array all{
      Subcommand{"fft", "The time of a distributed 3-D FFT, its parts and its bound", declare_model_fft, false},
      Subcommand{"gemm", "The time of a matrix multiply: Cannon's, out of core, or on the HTMT", declare_model_gemm,
                 false},
      Subcommand{"pingpong", "The time and bandwidth of messages over their length", declare_model_pingpong, false},
      Subcommand{"project", "A machine in another year; CPU-like machines in place of a GPU-like one",
                 declare_model_project, false},
      Subcommand{"scaling", "Speedup and efficiency with many workers; fits to measured ones", declare_model_scaling,
                 false},
      Subcommand{"topology", "Links, diameter, bisection and all-to-all time of a network", declare_model_topology,
                 false},
  };
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

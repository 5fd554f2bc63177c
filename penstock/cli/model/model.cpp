// `penstock model`: what a described machine would take, and what holds it back; each model is a subcommand.
#include "penstock/cli/model/model.hpp"

#include <array>

namespace penstock::cli {

Body declare_model(CLI::App& app) {
  static constexpr std::array all{
      Subcommand{"fft", "The time of a distributed 3-D FFT, its parts and its bound", declare_model_fft},
      Subcommand{"gemm", "The time of a matrix multiply: Cannon's, out of core, or on the HTMT", declare_model_gemm},
      Subcommand{"pingpong", "The time and bandwidth of messages over their length", declare_model_pingpong},
      Subcommand{"plan", "The time of a transform as Penstock's own plans run it, on a calibrated machine",
                 declare_model_plan},
      Subcommand{"project", "A machine in another year; CPU-like machines in place of a GPU-like one",
                 declare_model_project},
      Subcommand{"scaling", "Speedup and efficiency with many workers; fits to measured ones", declare_model_scaling},
      Subcommand{"topology", "Links, diameter, bisection and all-to-all time of a network", declare_model_topology},
  };
  return declare_group(app, all);
}

}  // namespace penstock::cli

// `penstock model`: what a described machine would take, and what holds it back; each model is a subcommand.
#include <array>

#include "penstock/cli/model/run_study.hpp"

namespace penstock::cli {
namespace {

template <study::OptionedStudy (*study_of)()>
Body declare(CLI::App& app) {
  return declare_study(app, study_of());
}

}  // namespace

Body declare_model(CLI::App& app) {
  static constexpr std::array all{
      Subcommand{"fft",
                 "The time of a distributed 3-D FFT, whatever program runs it, on a described machine; its parts and "
                 "its bound",
                 declare<study::fft_study>},
      Subcommand{"gemm", "The time of a matrix multiply: Cannon's, out of core, or on the HTMT",
                 declare<study::gemm_study>},
      Subcommand{"pingpong", "The time and bandwidth of messages over their length", declare<study::pingpong_study>},
      Subcommand{"plan", "The time of a transform as Penstock's own plans run it, on a calibrated machine",
                 declare<study::plan_study>},
      Subcommand{"project", "A machine in another year; CPU-like machines in place of a GPU-like one",
                 declare<study::project_study>},
      Subcommand{"scaling", "Speedup and efficiency with many workers; fits to measured ones",
                 declare<study::scaling_study>},
      Subcommand{"topology", "Links, diameter, bisection and all-to-all time of a network",
                 declare<study::topology_study>},
  };
  return declare_group(app, all);
}

}  // namespace penstock::cli

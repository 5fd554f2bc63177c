// The subcommands of `penstock model`, declared each in its file.
#pragma once

#include "penstock/cli/core/subcommand.hpp"

namespace penstock::cli {

Body declare_model_fft(CLI::App& app);
Body declare_model_gemm(CLI::App& app);
Body declare_model_pingpong(CLI::App& app);
Body declare_model_plan(CLI::App& app);
Body declare_model_project(CLI::App& app);
Body declare_model_scaling(CLI::App& app);
Body declare_model_topology(CLI::App& app);

}  // namespace penstock::cli

// The subcommands of `penstock model` that are more than a study, declared each in its file.
#pragma once

#include "penstock/cli/core/subcommand.hpp"

namespace penstock::cli {

Body declare_model_project(CLI::App& app);
Body declare_model_scaling(CLI::App& app);

}  // namespace penstock::cli

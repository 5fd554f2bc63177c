// What the subcommands of `penstock model` share: a study's options declared, and its answer printed, written and
// drawn.
#pragma once

#include <memory>
#include <string>

#include "penstock/cli/core/subcommand.hpp"
#include "penstock/study/study.hpp"

namespace penstock::cli {

/// Declares the study's options, --plot, and the body that runs it.
Body declare_study(CLI::App& app, const study::OptionedStudy& optioned);

// The parts of declare_study, for models with more than that.

void declare_options(CLI::App& app, const study::OptionedStudy& optioned);

/// Declares --plot; returns what its path goes to.
std::shared_ptr<std::string> declare_plot(CLI::App& app);

/// Collective: evaluates all points, prints them as a table, writes the JSON and draws the plot that are asked for.
void run_study(Session& session, const study::OptionedStudy& optioned, const std::string& plot_path);

}  // namespace penstock::cli

// What the subcommands of `penstock model` share: a study's options declared, and its answer printed, written and
// drawn.
#pragma once

#include "penstock/cli/core/subcommand.hpp"
#include "penstock/study/study.hpp"

namespace penstock::cli {

/// Declares the study's options, --plot, and the body, which evaluates all points, prints them as a table, writes the
/// JSON and draws the plot that are asked for.
Body declare_study(CLI::App& app, const study::OptionedStudy& optioned);

}  // namespace penstock::cli

// Options of every subcommand that plans a transform, and the names by which plans are reported.
#pragma once

#include <memory>
#include <string>

#include "penstock/fft/fft.hpp"

namespace CLI {
class App;
}

namespace penstock::cli {

/// Declares --grid, --algorithm, --grain, --late, --progress, --planning, --plan, --movers and --memory, read into
/// `options`.
void add_plan_options(CLI::App& app, const std::shared_ptr<fft::Options>& options);

/// "packed", "slabs", "grain N" where the plan lies between the two, or the name of MPI's variant.
std::string algorithm_name(const fft::Decision& decision);

/// The same for readers, with what is sent late: "grain 4, 3/8 late".
std::string describe_exchanges(const fft::Decision& decision);

}  // namespace penstock::cli

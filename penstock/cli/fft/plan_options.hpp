// Options of every subcommand that plans a transform, and the names by which plans are reported.
#pragma once

#include <memory>
#include <string>

#include "penstock/fft/fft.hpp"

namespace CLI {
class App;
}

namespace penstock::cli {

/// Declares --grid, --algorithm, --planes-per-message, --deferred-parts, --progress, --planning, --effort, --local,
/// --isa, --movers and --memory, read into `options`.
void add_plan_options(CLI::App& app, const std::shared_ptr<fft::Options>& options);

/// "packed", "slabs", "N planes per message" between the two, or the name of MPI's variant.
std::string algorithm_name(const fft::Decision& decision);

/// The same for people, with what is deferred: "4 planes per message, 3/8 deferred".
std::string describe_exchanges(const fft::Decision& decision);

}  // namespace penstock::cli

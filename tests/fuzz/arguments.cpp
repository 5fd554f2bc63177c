// The command's arguments, one a line: all are read as the command reads them; models, which only compute, are
// evaluated as well.
#include <fcntl.h>
#include <unistd.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/cli/core/parse.hpp"
#include "penstock/cli/core/processes.hpp"
#include "penstock/cli/core/session.hpp"
#include "penstock/cli/core/subcommand.hpp"
#include "tests/fuzz/target.hpp"

namespace penstock {
namespace {

/// Empty where an option would write a file, which inputs must not.
std::vector<std::string> arguments_of(std::string_view text) {
  std::vector<std::string> arguments;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (line.starts_with("--plot") || line.starts_with("--json")) {
      return {};
    }
    std::string argument(line);
    std::replace(argument.begin(), argument.end(), '\0', ' ');  // no argument has one
    arguments.push_back(std::move(argument));
  }
  std::reverse(arguments.begin(), arguments.end());  // as CLI11 takes them
  return arguments;
}

void run(const cli::Body& body) {
  static cli::Interruption interruption(false);
  cli::Processes processes;
  const cli::CommonOptions options;
  gas::run_world(1, [&](gas::Team& team) {
    cli::Session session{.team = team, .options = options, .processes = processes, .interruption = interruption};
    body(session);
  });
}

void check(std::string_view text) {
  CLI::App app("fuzzed", "penstock");
  cli::Body model;
  CLI::App* of_model = nullptr;
  for (const cli::Subcommand& subcommand : cli::subcommands()) {
    CLI::App* sub = app.add_subcommand(subcommand.name, subcommand.summary);
    cli::Body body = subcommand.declare(*sub);
    if (std::string_view(subcommand.name) == "model") {
      of_model = sub;
      model = std::move(body);
    }
  }
  app.require_subcommand(0, 1);
  try {
    app.parse(arguments_of(text));
    if (of_model->parsed()) {
      run(model);
    }
  } catch (const CLI::ParseError&) {  // refused, with a message
  } catch (const Error&) {            // the same
  }
}

}  // namespace
}  // namespace penstock

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // What models print is for nobody.
  static const bool is_silent = std::freopen("/dev/null", "w", stdout) != nullptr;
  penstock::require(is_silent, "standard output leads nowhere");
  penstock::check(penstock::text_of(data, size));
  return 0;
}

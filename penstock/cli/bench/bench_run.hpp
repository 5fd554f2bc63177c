// What the benchmarks of messages have in common: their lengths and rounds, and how one is run and its results told.
#pragma once

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>

#include "penstock/cli/core/machine_rates.hpp"
#include "penstock/cli/core/parse.hpp"
#include "penstock/cli/core/subcommand.hpp"
#include "penstock/cli/core/version.hpp"
#include "penstock/cli/report/output.hpp"
#include "penstock/cli/report/progress.hpp"
#include "penstock/cli/report/results.hpp"

namespace penstock::cli {

/// Adds `--sizes` and `--rounds` to a benchmark; `sizes_are` and `rounds_are` tell of what they are. `options` point to
/// the `sizes` and `rounds` that they set.
template <class Options>
void add_sizes_and_rounds(CLI::App& app, const Options& options, const std::string& sizes_are,
                          const std::string& rounds_are) {
  const std::string all = "8:16777216";
  options->sizes = parse_message_sizes("--sizes", all);
  add_value(app, "--sizes", "FIRST:LAST", fmt::format("{}, doubling ({})", sizes_are, all),
            [options](const std::string& text) { options->sizes = parse_message_sizes("--sizes", text); });
  add_value(app, "--rounds", "N", fmt::format("{} ({})", rounds_are, options->rounds),
            [options](const std::string& text) {
              options->rounds = static_cast<int>(parse_integer("--rounds", text, 1, 1000000));
            });
}

/// What the JSON of a benchmark of messages begins with: on what it ran.
inline nlohmann::ordered_json json_head(const Session& session) {
  auto json = nlohmann::ordered_json::object();
  json["machine"] = read_machine(session, "").name;
  json["mpi"] = mpi_text();
  json["transport"] = session.team.transport().name;
  json["ranks"] = session.team.size();
  return json;
}

/// Collective: measures with progress shown, prints the table, writes the results. `options` say whether MPI's ways
/// join in, which this settles: where the team's ranks are those of MPI_COMM_WORLD.
template <class Options, class Measure, class Print, class ToJson>
void run_bench(Session& session, const char* schema, Options options, const Measure& measure, const Print& print,
               const ToJson& to_json) {
  Results files(session, schema);
  options.has_mpi = session.processes.has_mpi() && session.processes.size() == session.team.size();
  const auto results = [&] {
    const trace::Recording recording(session.recorder());
    Progress progress(session);
    options.progress = [&](const std::string& step, int number, int count) { progress.show(step, number, count); };
    return measure(session.team, options);
  }();
  session.has_begun_work = true;
  if (session.has_table()) {
    print_output("transport {}, {} ranks\n", session.team.transport().name, session.team.size());
    print(results);
  }
  files.write(to_json(results));
}

}  // namespace penstock::cli

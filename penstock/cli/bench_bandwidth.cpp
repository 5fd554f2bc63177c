// `penstock bench bandwidth`: floods of messages from one rank to others.
#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "penstock/cli/bench.hpp"
#include "penstock/cli/machine_figures.hpp"
#include "penstock/cli/parse.hpp"
#include "penstock/cli/progress.hpp"
#include "penstock/cli/result_file.hpp"
#include "penstock/cli/version.hpp"
#include "penstock/measure/measure.hpp"

namespace penstock::cli {
namespace {

using measure::BandwidthOptions;
using measure::BandwidthResult;

void print_results(const std::vector<BandwidthResult>& results) {
  fmt::print("GB/s from rank 0 to all peers together: best, median\n\n{:>9} {:>6} {:>7}  {:10} {:>9} {:>9}\n", "bytes",
             "peers", "window", "way", "best", "median");
  for (const BandwidthResult& result : results) {
    fmt::print("{:9} {:6} {:7}  {:10} {:9.3f} {:9.3f}\n", result.bytes, result.peers, result.window, result.way,
               result.best_bytes_per_s / 1e9, result.median_bytes_per_s / 1e9);
  }
}

nlohmann::ordered_json to_json(const Session& session, const std::vector<BandwidthResult>& results) {
  nlohmann::ordered_json json;
  json["machine"] = read_machine(session, "").name;
  json["mpi"] = mpi_text();
  json["transport"] = session.team.transport_name();
  json["results"] = nlohmann::ordered_json::array();
  for (const BandwidthResult& result : results) {
    json["results"].push_back({{"way", result.way},
                               {"bytes", result.bytes},
                               {"peers", result.peers},
                               {"window", result.window},
                               {"bytes_per_s", result.best_bytes_per_s},
                               {"median_bytes_per_s", result.median_bytes_per_s}});
  }
  return json;
}

void run_bench_bandwidth(Session& session, const BandwidthOptions& asked) {
  ResultFile json(session, "--json", session.options.json_path);
  BandwidthOptions options = asked;
  options.has_mpi = session.processes.has_mpi() && session.processes.size() == session.team.size();
  std::vector<BandwidthResult> results;
  {
    const Progress progress(session);
    options.progress = [&](const std::string& step) { progress.show(step); };
    results = measure::measure_bandwidth(session.team, options);
    session.has_begun_work = true;
  }
  if (session.has_table()) {
    fmt::print("transport {}\n", session.team.transport_name());
    print_results(results);
  }
  json.write(session.is_first() ? to_json(session, results).dump(2) + "\n" : "");
}

}  // namespace

Body declare_bench_bandwidth(CLI::App& app) {
  auto options = std::make_shared<BandwidthOptions>();
  options->sizes = parse_message_sizes("--sizes", "8:16777216");
  add_value(app, "--sizes", "FIRST:LAST", "Message lengths in bytes, doubling (8:16777216)",
            [options](const std::string& text) { options->sizes = parse_message_sizes("--sizes", text); });
  add_value(app, "--window", "N", fmt::format("Messages to each peer under way at once ({})", options->window),
            [options](const std::string& text) {
              options->window = static_cast<int>(parse_integer("--window", text, 1, 65536));
            });
  add_value(app, "--rounds", "N", fmt::format("Windows of each way and length ({})", options->rounds),
            [options](const std::string& text) {
              options->rounds = static_cast<int>(parse_integer("--rounds", text, 1, 1000000));
            });
  return [options](Session& session) { run_bench_bandwidth(session, *options); };
}

}  // namespace penstock::cli

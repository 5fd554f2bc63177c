// `penstock bench bandwidth`: floods of messages from one rank to others.
#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "penstock/cli/bench/bench.hpp"
#include "penstock/cli/bench/bench_run.hpp"
#include "penstock/cli/core/parse.hpp"
#include "penstock/cli/report/output.hpp"
#include "penstock/lab/latency/latency.hpp"

namespace penstock::cli {
namespace {

using lab::BandwidthOptions;
using lab::BandwidthResult;

void print_bandwidths(const std::vector<BandwidthResult>& results) {
  print_output("GB/s from rank 0 to all peers together: best, median\n\n{:>9} {:>6} {:>7}  {:10} {:>9} {:>9}\n",
               "bytes", "peers", "window", "way", "best", "median");
  for (const BandwidthResult& result : results) {
    print_output("{:9} {:6} {:7}  {:10} {:9.3f} {:9.3f}\n", result.bytes, result.peers, result.window, result.way,
                 result.best_bytes_per_s / 1e9, result.median_bytes_per_s / 1e9);
  }
}

nlohmann::ordered_json to_json(const Session& session, const std::vector<BandwidthResult>& results) {
  nlohmann::ordered_json json = json_head(session);
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

void run_bench_bandwidth(Session& session, const BandwidthOptions& options) {
  run_bench(session, "bench-bandwidth", options, lab::measure_bandwidth, print_bandwidths,
            [&](const std::vector<BandwidthResult>& results) { return to_json(session, results); });
}

}  // namespace

Body declare_bench_bandwidth(CLI::App& app) {
  auto options = std::make_shared<BandwidthOptions>();
  add_sizes_and_rounds(app, options, "Message lengths in bytes", "Windows of each way and length");
  add_value(app, "--window", "N", fmt::format("Messages to each peer under way at once ({})", options->window),
            [options](const std::string& text) {
              options->window = static_cast<int>(parse_integer("--window", text, 1, 65536));
            });
  return [options](Session& session) { run_bench_bandwidth(session, *options); };
}

}  // namespace penstock::cli

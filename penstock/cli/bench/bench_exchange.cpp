// `penstock bench exchange`: all ranks give blocks to all.
#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "penstock/cli/bench/bench.hpp"
#include "penstock/cli/bench/bench_run.hpp"
#include "penstock/cli/core/parse.hpp"
#include "penstock/cli/report/json.hpp"
#include "penstock/cli/report/output.hpp"
#include "penstock/cli/report/terminal.hpp"
#include "penstock/lab/exchange/exchange.hpp"

namespace penstock::cli {
namespace {

using lab::ExchangeOptions;
using lab::ExchangeResult;

/// By size: the median time of the faster of MPI's ways over that of the team's exchange.
using Speedups = std::map<std::size_t, double>;

Speedups speedups_of(const std::vector<ExchangeResult>& results) {
  std::map<std::size_t, double> ours_s;
  std::map<std::size_t, double> mpi_s;
  for (const ExchangeResult& result : results) {
    if (result.way == "exchange") {
      ours_s[result.bytes] = result.median_s;
    } else if (const auto [best, is_new] = mpi_s.try_emplace(result.bytes, result.median_s); !is_new) {
      best->second = std::min(best->second, result.median_s);
    }
  }
  Speedups speedups;
  for (const auto& [bytes, time_s] : mpi_s) {
    speedups[bytes] = time_s / ours_s.at(bytes);
  }
  return speedups;
}

std::optional<double> geometric_mean(const Speedups& speedups) {
  if (speedups.empty()) {
    return std::nullopt;
  }
  double sum = 0;
  for (const auto& [bytes, speedup] : speedups) {
    sum += std::log(speedup);
  }
  return std::exp(sum / static_cast<double>(speedups.size()));
}

void print_exchanges(const std::vector<ExchangeResult>& results) {
  const Speedups speedups = speedups_of(results);
  print_output(
      "Microseconds of the slowest rank: minimum, median, 99th percentile. Overlap: total of the exchange and a "
      "computation as long, over the longer of the two\n\n{:>9}  {:14} {:>10} {:>10} {:>10} {:>8}\n",
      "bytes", "way", "min", "median", "p99", "overlap");
  std::size_t bytes = 0;
  for (const ExchangeResult& result : results) {
    const bool is_new = result.bytes != bytes;
    bytes = result.bytes;
    print_output("{:>9}  {:14} {:10.3f} {:10.3f} {:10.3f} {:>8}\n", is_new ? std::to_string(bytes) : "", result.way,
                 result.min_s * 1e6, result.median_s * 1e6, result.p99_s * 1e6,
                 result.overlap ? fmt::format("{:.3f}", result.overlap->over_longer()) : "");
  }
  if (const auto mean = geometric_mean(speedups)) {
    print_output("\nTimes as fast as the faster of MPI's ways, in medians:");
    for (const auto& [size, speedup] : speedups) {
      print_output(" {:.2f}", speedup);
    }
    print_output("; geometric mean {}\n", strong(fmt::format("{:.2f}", *mean)));
  }
}

nlohmann::ordered_json to_json(const Session& session, const std::vector<ExchangeResult>& results) {
  const Speedups speedups = speedups_of(results);
  nlohmann::ordered_json json = json_head(session);
  json["results"] = nlohmann::ordered_json::array();
  for (const ExchangeResult& result : results) {
    nlohmann::ordered_json entry{{"way", result.way},
                                 {"bytes", result.bytes},
                                 {"samples", result.samples},
                                 {"time_min_s", result.min_s},
                                 {"time_median_s", result.median_s},
                                 {"time_p99_s", result.p99_s}};
    if (result.overlap) {
      entry["overlap"] = {{"exchange_s", result.overlap->exchange_s},
                          {"computation_s", result.overlap->computation_s},
                          {"total_s", result.overlap->total_s},
                          {"total_over_longer", result.overlap->over_longer()}};
    }
    json["results"].push_back(entry);
  }
  for (const auto& [bytes, speedup] : speedups) {
    append(json, "speedups", {{"bytes", bytes}, {"over_faster_mpi", speedup}});
  }
  if (const auto mean = geometric_mean(speedups)) {
    json["geometric_mean_speedup"] = *mean;
  }
  return json;
}

void run_bench_exchange(Session& session, const ExchangeOptions& options) {
  run_bench(session, "bench-exchange", options, lab::measure_exchange, print_exchanges,
            [&](const std::vector<ExchangeResult>& results) { return to_json(session, results); });
}

}  // namespace

Body declare_bench_exchange(CLI::App& app) {
  auto options = std::make_shared<ExchangeOptions>();
  add_sizes_and_rounds(app, options, "Bytes from each rank to each", "Samples of each way and length");
  add_value(app, "--polls", "N",
            fmt::format("How often the computation beside an exchange sees after it ({})", options->polls),
            [options](const std::string& text) {
              options->polls = static_cast<int>(parse_integer("--polls", text, 0, 1000000));
            });
  app.add_flag("--progress-thread", options->has_progress_thread,
               "A thread of each rank sees after our exchange while the rank computes");
  return [options](Session& session) { run_bench_exchange(session, *options); };
}

}  // namespace penstock::cli

// `penstock bench latency`: messages between two ranks, by every way that there is.
#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/cli/bench.hpp"
#include "penstock/cli/machine_figures.hpp"
#include "penstock/cli/parse.hpp"
#include "penstock/cli/progress.hpp"
#include "penstock/cli/result_file.hpp"
#include "penstock/cli/version.hpp"
#include "penstock/measure/measure.hpp"
#include "penstock/model/model.hpp"

namespace penstock::cli {
namespace {

using measure::LatencyOptions;
using measure::LatencyResult;
using measure::LatencyResults;

struct LatencyRequest {
  LatencyOptions measured;
  bool has_fit = false;
};

/// By way: in one segment, and then, where that is worth it, in two.
using Fits = std::map<std::string, std::vector<model::PingPongFit>>;

/// Of each way that was measured at several lengths: of the minima, which other load on the machine disturbs least.
Fits fit(const std::vector<LatencyResult>& results) {
  std::map<std::string, std::vector<model::MessageTime>> times;
  for (const LatencyResult& result : results) {
    times[result.way].push_back({static_cast<double>(result.bytes), result.min_s});
  }
  Fits fits;
  for (const auto& [way, points] : times) {
    if (points.size() < 2) {
      continue;
    }
    fits[way] = {model::fit_ping_pong(points, 1)};
    if (model::PingPongFit two = model::fit_ping_pong(points, 2); two.segments.size() == 2) {
      fits[way].push_back(std::move(two));
    }
  }
  return fits;
}

void print_results(const LatencyResults& results) {
  fmt::print(
      "Microseconds: minimum, median, 99th percentile. One way: half of there and back; round trip: until the "
      "answer is here\n\n{:>9}  {:18} {:>9} {:>9} {:>9}\n",
      "bytes", "way", "min", "median", "p99");
  std::size_t bytes = 0;
  for (const LatencyResult& result : results.of) {
    const bool is_new = result.bytes != bytes;
    bytes = result.bytes;
    fmt::print("{:>9}  {:18} {:9.3f} {:9.3f} {:9.3f}{}\n", is_new ? std::to_string(bytes) : "", result.way,
               result.min_s * 1e6, result.median_s * 1e6, result.p99_s * 1e6,
               result.is_round_trip ? "  round trip" : "");
  }
  for (const std::string& way : results.left_out) {
    fmt::print("left out: {}\n", way);
  }
}

/// Calls `take(way, fit, segment)` for each segment of each fit.
template <class Take>
void for_each_segment(const Fits& fits, const Take& take) {
  for (const auto& [way, of_way] : fits) {
    for (const model::PingPongFit& fit : of_way) {
      for (const model::PingPongSegment& segment : fit.segments) {
        take(way, fit, segment);
      }
    }
  }
}

void print_fits(const Fits& fits) {
  fmt::print(
      "\nFits T(N) = T_l + N / B of the minima: in one segment, and in two that have at most two thirds of its "
      "error\n\n"
      "{:18} {:>22} {:>10} {:>12} {:>10} {:>6}\n",
      "way", "bytes", "T_l", "B", "N1/2", "error");
  for_each_segment(
      fits, [](const std::string& way, const model::PingPongFit& fit, const model::PingPongSegment& segment) {
        fmt::print("{:18} {:>22} {:7.2f} us {:>10}/s {:>10} {:>4.0f} %\n", way,
                   fmt::format("{:.0f} to {:.0f}", segment.first_bytes, segment.last_bytes), segment.latency_s * 1e6,
                   format_bytes(static_cast<std::uint64_t>(std::min(segment.bandwidth_bytes_per_s, 1e18))),
                   format_bytes(static_cast<std::uint64_t>(std::clamp(segment.half_bytes(), 0.0, 1e18))),
                   fit.relative_error * 100);
      });
}

nlohmann::ordered_json to_json(const Session& session, const LatencyResults& results, const Fits& fits) {
  nlohmann::ordered_json json;
  json["machine"] = read_machine(session, "").name;
  json["mpi"] = mpi_text();
  json["transport"] = session.team.transport_name();
  json["results"] = nlohmann::ordered_json::array();
  for (const LatencyResult& result : results.of) {
    json["results"].push_back({{"way", result.way},
                               {"bytes", result.bytes},
                               {"is_round_trip", result.is_round_trip},
                               {"samples", result.samples},
                               {"time_min_s", result.min_s},
                               {"time_median_s", result.median_s},
                               {"time_p99_s", result.p99_s}});
  }
  json["left_out"] = results.left_out;
  for_each_segment(fits,
                   [&](const std::string& way, const model::PingPongFit& fit, const model::PingPongSegment& segment) {
                     json["fits"].push_back({{"way", way},
                                             {"segments", fit.segments.size()},
                                             {"first_bytes", segment.first_bytes},
                                             {"last_bytes", segment.last_bytes},
                                             {"latency_s", segment.latency_s},
                                             {"bandwidth_bytes_per_s", segment.bandwidth_bytes_per_s},
                                             {"half_bytes", segment.half_bytes()},
                                             {"relative_error", fit.relative_error}});
                   });
  return json;
}

void run_bench_latency(Session& session, const LatencyRequest& asked) {
  ResultFile json(session, "--json", session.options.json_path);
  LatencyOptions options = asked.measured;
  options.has_mpi = session.processes.has_mpi() && session.processes.size() == session.team.size();
  LatencyResults results;
  {
    const Progress progress(session);
    options.progress = [&](const std::string& step) { progress.show(step); };
    results = measure::measure_latency(session.team, options);
    session.has_begun_work = true;
  }
  const Fits fits = asked.has_fit ? fit(results.of) : Fits();
  if (session.has_table()) {
    fmt::print("transport {}\n", session.team.transport_name());
    print_results(results);
    if (asked.has_fit) {
      print_fits(fits);
    }
  }
  json.write(session.is_first() ? to_json(session, results, fits).dump(2) + "\n" : "");
}

}  // namespace

Body declare_bench_latency(CLI::App& app) {
  auto request = std::make_shared<LatencyRequest>();
  request->measured.sizes = parse_message_sizes("--sizes", "8:16777216");
  add_value(app, "--sizes", "FIRST:LAST", "Message lengths in bytes, doubling (8:16777216)",
            [request](const std::string& text) { request->measured.sizes = parse_message_sizes("--sizes", text); });
  add_value(app, "--rounds", "N", fmt::format("Samples of each way and length ({})", request->measured.rounds),
            [request](const std::string& text) {
              request->measured.rounds = static_cast<int>(parse_integer("--rounds", text, 1, 1000000));
            });
  app.add_flag("--fit", request->has_fit, "Fit latency and bandwidth to the minima, in one and in two segments");
  return [request](Session& session) { run_bench_latency(session, *request); };
}

}  // namespace penstock::cli

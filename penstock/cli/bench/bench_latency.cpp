// `penstock bench latency`: messages between two ranks, by every way that there is.
#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/cli/bench/bench.hpp"
#include "penstock/cli/bench/bench_run.hpp"
#include "penstock/cli/report/json.hpp"
#include "penstock/cli/report/output.hpp"
#include "penstock/lab/latency/latency.hpp"
#include "penstock/model/model.hpp"

namespace penstock::cli {
namespace {

using lab::LatencyOptions;
using lab::LatencyResult;
using lab::LatencyResults;

struct LatencyRequest {
  LatencyOptions measured;
  bool has_fit = false;
};

/// By way: in one segment, and then, where that is worth it, in two.
using Fits = std::map<std::string, std::vector<model::PingPongFit>>;

/// Of each way that was measured at several lengths: of the minima, which other load on the machine disturbs least. No
/// fit where none is meaningful.
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
    std::vector<model::PingPongFit>& of_way = fits[way];
    if (model::PingPongFit one = model::fit_ping_pong(points, 1); one.segments.front().is_meaningful()) {
      of_way.push_back(std::move(one));
    }
    if (model::PingPongFit two = model::fit_ping_pong(points, 2); two.segments.size() == 2) {
      of_way.push_back(std::move(two));
    }
  }
  return fits;
}

void print_latencies(const LatencyResults& results) {
  print_output(
      "Microseconds: minimum, median, 99th percentile. One way: half of there and back; round trip: until the "
      "answer is here\n\n{:>9}  {:18} {:>9} {:>9} {:>9}\n",
      "bytes", "way", "min", "median", "p99");
  std::size_t bytes = 0;
  for (const LatencyResult& result : results.of) {
    const bool is_new = result.bytes != bytes;
    bytes = result.bytes;
    print_output("{:>9}  {:18} {:9.3f} {:9.3f} {:9.3f}{}\n", is_new ? std::to_string(bytes) : "", result.way,
                 result.min_s * 1e6, result.median_s * 1e6, result.p99_s * 1e6,
                 result.is_round_trip ? "  round trip" : "");
  }
  for (const std::string& way : results.left_out) {
    print_output("left out: {}\n", way);
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
  print_output(
      "\nFits T(N) = T_l + N / B of the minima: in one segment, and in two that have at most two thirds of its "
      "error\n\n"
      "{:18} {:>22} {:>10} {:>12} {:>10} {:>6}\n",
      "way", "bytes", "T_l", "B", "N1/2", "error");
  for_each_segment(
      fits, [](const std::string& way, const model::PingPongFit& fit, const model::PingPongSegment& segment) {
        print_output("{:18} {:>22} {:7.2f} us {:>10}/s {:>10} {:>4.0f} %\n", way,
                     fmt::format("{:.0f} to {:.0f}", segment.first_bytes, segment.last_bytes), segment.latency_s * 1e6,
                     format_bytes(static_cast<std::uint64_t>(segment.bandwidth_bytes_per_s)),
                     format_bytes(static_cast<std::uint64_t>(segment.half_bytes())), fit.relative_error * 100);
      });
  for (const auto& [way, of_way] : fits) {
    if (of_way.empty()) {
      print_output("{:18} none: the times do not grow with the length\n", way);
    }
  }
}

nlohmann::ordered_json to_json(const Session& session, const LatencyResults& results, const Fits& fits) {
  nlohmann::ordered_json json = json_head(session);
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
                     append(json, "fits",
                            {{"way", way},
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
  const auto fits_of = [&](const LatencyResults& results) { return asked.has_fit ? fit(results.of) : Fits(); };
  const auto print = [&](const LatencyResults& results) {
    print_latencies(results);
    if (asked.has_fit) {
      print_fits(fits_of(results));
    }
  };
  run_bench(session, "bench-latency", asked.measured, lab::measure_latency, print,
            [&](const LatencyResults& results) { return to_json(session, results, fits_of(results)); });
}

}  // namespace

Body declare_bench_latency(CLI::App& app) {
  auto request = std::make_shared<LatencyRequest>();
  // The options are part of the request, which they keep.
  const std::shared_ptr<LatencyOptions> measured(request, &request->measured);
  add_sizes_and_rounds(app, measured, "Message lengths in bytes", "Samples of each way and length");
  app.add_flag("--fit", request->has_fit, "Fit latency and bandwidth to the minima, in one and in two segments");
  return [request](Session& session) { run_bench_latency(session, *request); };
}

}  // namespace penstock::cli

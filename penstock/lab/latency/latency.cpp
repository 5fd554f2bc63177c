#include "penstock/lab/latency/latency.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "penstock/base/base.hpp"
#include "penstock/lab/latency/latency_ways.hpp"
#include "penstock/probe/probe.hpp"

namespace penstock::lab {
namespace {

/// So many round trips make a sample: a clock's reading costs as much as a short message.
int round_trips_of_a_sample(std::size_t bytes) {
  return bytes <= 1024 ? 32 : bytes <= 65536 ? 8 : 1;
}

LatencyResult summed_up(const LatencyContender& way, std::size_t bytes, std::vector<double> samples_s) {
  const auto samples = static_cast<int>(samples_s.size());
  const probe::Summary summary = probe::summary_of(std::move(samples_s));
  return {.way = way.name(),
          .bytes = bytes,
          .is_round_trip = way.is_one_sided(),
          .samples = samples,
          .min_s = summary.min_s,
          .median_s = summary.median_s,
          .p99_s = summary.p99_s};
}

}  // namespace

LatencyResults measure_latency(const gas::Team& team, const LatencyOptions& options) {
  if (team.size() < 2) {
    throw Error("latency is measured between two ranks, and the team has one: use --ranks 2, or mpirun -n 2");
  }
  const std::size_t max_bytes = options.sizes.empty() ? 0 : std::ranges::max(options.sizes);
  LatencyResults results;
  {
    const std::vector<std::unique_ptr<LatencyContender>> ways =
        make_latency_ways(team, max_bytes, options.has_mpi, results.left_out);
    probe::SignalBarrier barrier(team, 2);
    int number = 0;
    for (const std::size_t bytes : options.sizes) {
      if (team.rank() > 1) {
        continue;
      }
      ++number;
      if (team.rank() == 0 && options.progress) {
        options.progress(fmt::format("{} bytes", bytes), number, static_cast<int>(options.sizes.size()));
      }
      std::vector<std::vector<double>> samples_s(ways.size());
      const int repeats = round_trips_of_a_sample(bytes);
      for (int round = -2; round < probe::rounds_of(bytes, options.rounds); ++round) {  // the first two warm up
        for (std::size_t i = 0; i < ways.size(); ++i) {
          LatencyContender& way = *ways[i];
          if (!way.serves(bytes)) {
            continue;
          }
          way.set_size(bytes);
          barrier.wait();
          if (way.is_one_sided() && team.rank() == 1) {
            barrier.wait();
            continue;
          }
          const double begin_s = seconds();
          for (int k = 0; k < repeats; ++k) {
            way.repeat(team.rank());
          }
          const double each_s = (seconds() - begin_s) / repeats;
          if (way.is_one_sided()) {
            barrier.wait();
          }
          if (round >= 0) {
            samples_s[i].push_back(way.is_one_sided() ? each_s : each_s / 2);
          }
        }
      }
      if (team.rank() == 0) {
        for (std::size_t i = 0; i < ways.size(); ++i) {
          if (!samples_s[i].empty()) {
            results.of.push_back(summed_up(*ways[i], bytes, std::move(samples_s[i])));
          }
        }
      }
    }
    team.barrier();
  }
  return results;
}

}  // namespace penstock::lab

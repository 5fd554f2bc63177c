#include "penstock/cli/bench_ways.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "penstock/base/base.hpp"

namespace penstock::cli {

double Way::min_s() const {
  return *std::ranges::min_element(times_s);
}

double Way::median_s() const {
  std::vector<double> sorted = times_s;
  std::ranges::sort(sorted);
  return sorted[sorted.size() / 2];
}

void time_all(const gas::Team& team, std::vector<Way>& ways, int warm_rounds, int rounds, const Progress& progress) {
  for (int round = -warm_rounds; round < rounds; ++round) {
    for (Way& way : ways) {
      progress.show(fmt::format("{}, {} of {}", way.name, std::max(round + 1, 1), rounds));
      if (way.prepare) {
        way.prepare();
      }
      team.barrier();
      const double begin_s = seconds();
      way.work();
      double slowest_s = 0;
      for (const double time_s : team.all_gather(seconds() - begin_s)) {
        slowest_s = std::max(slowest_s, time_s);
      }
      if (round >= 0) {
        way.times_s.push_back(slowest_s);
      }
    }
  }
}

void print_ways(const std::vector<Way>& ways, double flops) {
  for (const Way& way : ways) {
    fmt::print("{:32} {:8.1f} {:8.1f}   {} is {:.3f} times as fast\n", way.name, flops / way.min_s() * 1e-9,
               flops / way.median_s() * 1e-9, ways.front().name, way.min_s() / ways.front().min_s());
  }
}

nlohmann::ordered_json ways_to_json(const std::vector<Way>& ways, double flops) {
  auto json = nlohmann::ordered_json::array();
  for (const Way& way : ways) {
    json.push_back({{"way", way.name},
                    {"time_min_s", way.min_s()},
                    {"time_median_s", way.median_s()},
                    {"rate_gflops", flops / way.min_s() * 1e-9}});
  }
  return json;
}

}  // namespace penstock::cli

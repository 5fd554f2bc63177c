#include "penstock/cli/bench/bench_ways.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "penstock/cli/report/output.hpp"
#include "penstock/probe/probe.hpp"

namespace penstock::cli {

void time_all(const gas::Team& team, std::vector<Contender>& ways, int warm_rounds, int rounds,
              const Progress& progress) {
  for (int round = -warm_rounds; round < rounds; ++round) {
    for (Contender& way : ways) {
      progress.show(fmt::format("{}, {} of {}", way.name, std::max(round + 1, 1), rounds));
      if (way.prepare) {
        way.prepare();
      }
      const double time_s = gas::time_together(team, way.work);
      if (round >= 0) {
        way.times_s.push_back(time_s);
      }
    }
  }
}

void print_ways(const std::vector<Contender>& ways, double flops) {
  const double first_s = probe::summary_of(ways.front().times_s).min_s;
  for (const Contender& way : ways) {
    const auto times = probe::summary_of(way.times_s);
    print_output("{:32} {:8.1f} {:8.1f}   {} is {:.3f} times as fast\n", way.name, flops / times.min_s * 1e-9,
                 flops / times.median_s * 1e-9, ways.front().name, times.min_s / first_s);
  }
}

nlohmann::ordered_json ways_to_json(const std::vector<Contender>& ways, double flops) {
  auto json = nlohmann::ordered_json::array();
  for (const Contender& way : ways) {
    const auto times = probe::summary_of(way.times_s);
    json.push_back({{"way", way.name},
                    {"time_min_s", times.min_s},
                    {"time_median_s", times.median_s},
                    {"rate_gflops", flops / times.min_s * 1e-9}});
  }
  return json;
}

}  // namespace penstock::cli

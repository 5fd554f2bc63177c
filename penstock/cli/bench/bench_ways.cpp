#include "penstock/cli/bench/bench_ways.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "penstock/cli/report/output.hpp"
#include "penstock/cli/report/terminal.hpp"
#include "penstock/probe/probe.hpp"

namespace penstock::cli {

void time_all(const gas::Team& team, std::vector<Contender>& ways, int warm_rounds, int rounds, Progress& progress,
              trace::Recorder* recorder) {
  const int steps = (warm_rounds + rounds) * static_cast<int>(ways.size());
  int step = 0;
  for (int round = -warm_rounds; round < rounds; ++round) {
    for (Contender& way : ways) {
      progress.show(way.name, ++step, steps);
      if (way.prepare) {
        way.prepare();
      }
      const double time_s = [&] {
        const trace::Recording recording(round >= 0 ? recorder : nullptr);
        const trace::Step traced(way.name, round + 1);
        return gas::time_together(team, way.work);
      }();
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
    const std::string ratio = fmt::format("{:.3f} times as fast", times.min_s / first_s);
    print_output("{:32} {:8.1f} {:8.1f}   {} is {}\n", way.name, flops / times.min_s * 1e-9,
                 flops / times.median_s * 1e-9, ways.front().name, strong(ratio));
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

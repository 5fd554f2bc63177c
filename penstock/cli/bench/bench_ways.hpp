// Ways to do the same work, timed in turn, round after round, so that what else the machine does is shared by all.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "penstock/base/trace.hpp"
#include "penstock/cli/report/progress.hpp"
#include "penstock/gas/gas.hpp"

namespace penstock::cli {

/// A way, and what it took in each round.
struct Contender {
  std::string name;
  std::function<void()> work;          ///< collective
  std::function<void()> prepare = {};  ///< collective, before each round and not timed; may be none
  std::vector<double> times_s = {};
};

/// Collective: `rounds` of all ways in turn; the time is the slowest rank's. `warm_rounds` come first and do not count.
/// `recorder` gets what is timed; it may be nullptr.
void time_all(const gas::Team& team, std::vector<Contender>& ways, int warm_rounds, int rounds, Progress& progress,
              trace::Recorder* recorder);

/// A line for each: what it reached of `flops`, best and median, and beside it how much faster the first way is.
void print_ways(const std::vector<Contender>& ways, double flops);
nlohmann::ordered_json ways_to_json(const std::vector<Contender>& ways, double flops);

}  // namespace penstock::cli

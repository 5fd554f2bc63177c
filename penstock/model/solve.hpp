// The argument of a model at which its time is the one that is wanted.
#pragma once

#include <functional>
#include <span>
#include <vector>

namespace penstock::model {

/// The time of a model at one of its arguments; throws Error where the model cannot take it.
using TimeAt = std::function<double(double argument)>;

/// Where a time was looked for.
struct Solution {
  double argument = 0;
  double time_s = 0;      ///< at `argument`
  bool is_found = false;  ///< else the time comes nearest at `argument`, but is not the one that is wanted
};

/// The argument at which the time is `wanted_s`, from `start` on, which is above 0: doubled and halved until the time
/// is on the other side, then by bisection in logarithms. Of whole numbers, where the model takes no others, the
/// nearest one with which it takes no more. Throws the model's Error at `start`.
Solution solve_for_time(const TimeAt& time_at, double start, double wanted_s, bool has_whole);

/// The first of `arguments` with which the model takes no more than `wanted_s`, or else that with the shortest time.
/// Those that the model cannot take are passed over; throws Error where it can take none.
Solution first_within_time(const TimeAt& time_at, std::span<const double> arguments, double wanted_s);

/// Numbers of nodes that grids fit, in order: products of 2, 3 and 5 below `all_nodes`, and `all_nodes`.
std::vector<double> numbers_of_nodes(double all_nodes);

}  // namespace penstock::model

// The argument at which a model's time is a wanted one.
#pragma once

#include <functional>
#include <span>
#include <vector>

#pragma GCC visibility push(default)

namespace penstock::model {

/// The time of a model at one of its arguments; throws Error where the model cannot take it.
using TimeAt = std::function<double(double argument)>;

/// The result of a search for a time.
struct Solution {
  double argument = 0;
  double time_s = 0;      ///< at `argument`
  bool is_found = false;  ///< else `argument` is the one whose time came nearest
};

/// The argument at which the model's time is `wanted_s`. The search doubles `start`, which is above 0, then halves it,
/// until the time passes `wanted_s`; then it bisects, in logarithms. With `has_whole` it tries whole numbers only, and
/// finds the nearest with which the model takes no more than `wanted_s`. Throws the model's Error at `start`; an Error
/// at another argument ends the doubling or halving.
Solution solve_for_time(const TimeAt& time_at, double start, double wanted_s, bool has_whole);

/// The first of `arguments` with which the model takes no more than `wanted_s`, or else the one with the shortest time.
/// Arguments at which the model throws Error are left out; throws Error where it throws at all of them.
Solution first_within_time(const TimeAt& time_at, std::span<const double> arguments, double wanted_s);

/// Numbers of nodes that grids of ranks fit, ascending: products of 2, 3 and 5 below `all_nodes`, and `all_nodes`.
std::vector<double> numbers_of_nodes(double all_nodes);

}  // namespace penstock::model

#pragma GCC visibility pop

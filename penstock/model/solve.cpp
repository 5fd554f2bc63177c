#include "penstock/model/solve.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include "penstock/base/error.hpp"

namespace penstock::model {
namespace {

struct TimedArgument {
  double argument;
  double time_s;
};

/// Halves the interval from `near` to `far`, in logarithms, of which `far` alone is on the other side of the time.
TimedArgument halve(const TimeAt& time_at, double wanted_s, bool has_whole, TimedArgument near, TimedArgument far) {
  const bool is_above = near.time_s > wanted_s;
  constexpr int max_halvings = 80;
  for (int halvings = 0; halvings < max_halvings; ++halvings) {
    const double middle =
        has_whole ? std::floor((near.argument + far.argument) / 2) : std::sqrt(near.argument * far.argument);
    if (middle == near.argument || middle == far.argument) {
      break;
    }
    const TimedArgument between{middle, time_at(middle)};
    ((between.time_s > wanted_s) == is_above ? near : far) = between;
  }
  return has_whole && !is_above ? near : far;
}

/// How far a time is from the one that is wanted, as the logarithm of their ratio.
double distance(const TimedArgument& timed, double wanted_s) {
  return std::abs(std::log(timed.time_s / wanted_s));
}

}  // namespace

Solution solve_for_time(const TimeAt& time_at, double start, double wanted_s, bool has_whole) {
  const TimedArgument first{start, time_at(start)};
  const bool is_above = first.time_s > wanted_s;
  TimedArgument nearest = first;
  constexpr int max_doublings = 40;
  const double astray = std::log(1000);  // a time so many times farther off than it was does not come back
  for (const double factor : {2.0, 0.5}) {
    TimedArgument near = first;
    for (int doublings = 0; doublings < max_doublings; ++doublings) {
      const double argument = has_whole ? std::floor(near.argument * factor) : near.argument * factor;
      if (argument == 0 || distance(near, wanted_s) > distance(nearest, wanted_s) + astray) {
        break;
      }
      try {
        const TimedArgument far{argument, time_at(argument)};
        if ((far.time_s > wanted_s) != is_above) {
          const TimedArgument found = halve(time_at, wanted_s, has_whole, near, far);
          return {.argument = found.argument, .time_s = found.time_s, .is_found = true};
        }
        near = far;
      } catch (const Error&) {
        break;  // out of what the model can take
      }
      if (distance(near, wanted_s) < distance(nearest, wanted_s)) {
        nearest = near;
      }
    }
  }
  return {.argument = nearest.argument, .time_s = nearest.time_s, .is_found = false};
}

Solution first_within_time(const TimeAt& time_at, std::span<const double> arguments, double wanted_s) {
  std::optional<Solution> best;
  std::string refusal;
  for (const double argument : arguments) {
    try {
      const double time_s = time_at(argument);
      if (time_s <= wanted_s) {
        return {.argument = argument, .time_s = time_s, .is_found = true};
      }
      if (!best || time_s < best->time_s) {
        best = {.argument = argument, .time_s = time_s, .is_found = false};
      }
    } catch (const Error& error) {
      refusal = error.what();
    }
  }
  if (!best) {
    throw Error(refusal);
  }
  return *best;
}

std::vector<double> numbers_of_nodes(double all_nodes) {
  std::vector<double> numbers;
  for (double twos = 1; twos < all_nodes; twos *= 2) {
    for (double threes = twos; threes < all_nodes; threes *= 3) {
      for (double fives = threes; fives < all_nodes; fives *= 5) {
        numbers.push_back(fives);
      }
    }
  }
  numbers.push_back(all_nodes);
  std::ranges::sort(numbers);
  return numbers;
}

}  // namespace penstock::model

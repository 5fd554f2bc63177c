#include "penstock/layout/repetition.hpp"

#include <cstdint>
#include <utility>

namespace penstock::layout {
namespace {

std::int64_t end_of(const Run& run) {
  return run.offset + run.bytes;
}

/// Whether run i + `period` is run i displaced by a constant, for all i.
bool is_period(std::span<const Run> runs, std::size_t period) {
  const std::int64_t stride = runs[period].offset - runs[0].offset;
  for (std::size_t i = 0; i + period < runs.size(); ++i) {
    if (runs[i + period].bytes != runs[i].bytes || runs[i + period].offset - runs[i].offset != stride) {
      return false;
    }
  }
  return true;
}

/// The divisors of a number but itself, ascending.
std::vector<std::size_t> divisors_below(std::size_t number) {
  std::vector<std::size_t> divisors;
  std::vector<std::size_t> cofactors;
  for (std::size_t i = 1; i * i <= number; ++i) {
    if (number % i == 0) {
      divisors.push_back(i);
      if (i > 1 && i * i < number) {
        cofactors.push_back(number / i);
      }
    }
  }
  divisors.insert(divisors.end(), cofactors.rbegin(), cofactors.rend());
  return divisors;
}

/// Cuts the list to its shortest period of whole runs and returns the loop around it; extent 1 where there is none.
Level cut_between_runs(std::vector<Run>& runs) {
  const std::size_t count = runs.size();
  for (const std::size_t period : divisors_below(count)) {
    if (is_period(runs, period)) {
      const Level level{static_cast<std::int64_t>(count / period), runs[period].offset - runs[0].offset};
      runs.resize(period);
      return level;
    }
  }
  return {1, 0};
}

/// Whether the gap after run i + `period` is the gap after run i, and so are the bytes between two gaps, for all i.
bool is_period_of_gaps(std::span<const Run> runs, std::size_t period) {
  const auto gap_after = [&](std::size_t i) { return runs[i + 1].offset - end_of(runs[i]); };
  for (std::size_t i = 0; i + period + 1 < runs.size(); ++i) {
    if (gap_after(i + period) != gap_after(i) || (i > 0 && runs[i + period].bytes != runs[i].bytes)) {
      return false;
    }
  }
  return true;
}

/// As above for a period that ends inside a run. Each repetition then holds as many gaps, and the first run and the
/// last are the two parts of the one that is cut.
Level cut_inside_a_run(std::vector<Run>& runs) {
  const std::size_t gaps = runs.size() - 1;
  for (const std::size_t period : divisors_below(gaps)) {
    if (runs[0].bytes + runs[gaps].bytes != runs[period].bytes || !is_period_of_gaps(runs, period)) {
      continue;
    }
    const std::int64_t last_bytes = runs[gaps].bytes;
    const Level level{static_cast<std::int64_t>(gaps / period), runs[period].offset + last_bytes - runs[0].offset};
    runs.resize(period + 1);
    runs[period].bytes = last_bytes;
    return level;
  }
  return {1, 0};
}

}  // namespace

void join_adjacent(std::vector<Run>& runs) {
  std::size_t count = 0;
  for (const Run& run : runs) {
    if (run.bytes == 0) {
      continue;
    }
    if (count > 0 && end_of(runs[count - 1]) == run.offset) {
      runs[count - 1].bytes += run.bytes;
    } else {
      runs[count++] = run;
    }
  }
  runs.resize(count);
}

Repetition find_repetition_of_runs(std::vector<Run> runs) {
  Repetition found{{}, std::move(runs)};
  while (found.runs.size() > 1) {
    const Level level = cut_between_runs(found.runs);
    if (level.extent == 1) {
      break;
    }
    found.levels.push_back(level);
  }
  return found;
}

Repetition find_repetition(std::vector<Run> runs) {
  join_adjacent(runs);
  Repetition found{{}, std::move(runs)};
  while (found.runs.size() > 1) {
    Level level = cut_between_runs(found.runs);
    if (level.extent == 1) {
      level = cut_inside_a_run(found.runs);
    }
    if (level.extent == 1) {
      break;
    }
    found.levels.push_back(level);
  }
  if (found.runs.size() < found.runs.capacity() / 2) {
    found.runs.shrink_to_fit();
  }
  return found;
}

}  // namespace penstock::layout

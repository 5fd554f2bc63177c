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

/// Cuts the list to its shortest period of whole runs and returns the loop around it; extent 1 where there is none.
Level cut_between_runs(std::vector<Run>& runs) {
  const std::size_t count = runs.size();
  for (std::size_t period = 1; period <= count / 2; ++period) {
    if (count % period == 0 && is_period(runs, period)) {
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
  for (std::size_t period = 1; period <= gaps / 2; ++period) {
    if (gaps % period != 0 || runs[0].bytes + runs[gaps].bytes != runs[period].bytes ||
        !is_period_of_gaps(runs, period)) {
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

std::vector<Run> join_adjacent(std::span<const Run> runs) {
  std::vector<Run> joined;
  for (const Run& run : runs) {
    if (run.bytes == 0) {
      continue;
    }
    if (!joined.empty() && end_of(joined.back()) == run.offset) {
      joined.back().bytes += run.bytes;
    } else {
      joined.push_back(run);
    }
  }
  return joined;
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
  found.runs.shrink_to_fit();
  return found;
}

Repetition find_repetition(std::span<const Run> runs) {
  Repetition found{{}, join_adjacent(runs)};
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
  found.runs.shrink_to_fit();
  return found;
}

}  // namespace penstock::layout

// Memory's bandwidth by copies between barriers.
#include <algorithm>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/mover/mover.hpp"
#include "penstock/probe/probe.hpp"

namespace penstock::probe {

double memory_bandwidth(const gas::Team& team, int threads, std::span<std::byte> memory) {
  constexpr int passes = 12;
  constexpr double max_s = 0.1;
  // A slice for each thread, in whole cache lines.
  const auto slice = static_cast<std::int64_t>(memory.size() / 2 / static_cast<std::size_t>(threads) / 64 * 64);
  double bytes = 0;
  for (const std::int64_t each : team.all_gather(slice * threads)) {
    bytes += 2 * static_cast<double>(each);
  }
  if (bytes == 0) {
    return 0;
  }
  const auto contiguous = layout::Layout::contiguous(slice);
  const auto copy = mover::Mover::compile(contiguous, contiguous, mover::Hint::streaming);
  std::byte* half = memory.data() + slice * threads;
  ThreadPool pool(threads);
  double best_s = 0;
  double total_s = 0;
  for (int pass = 0; pass < passes && total_s < max_s; ++pass) {
    const double time_s = gas::time_together(team, pool, [&](int thread) {
      copy(memory.data() + thread * slice, half + thread * slice);
      mover::finish_streaming();
    });
    best_s = pass == 0 ? time_s : std::min(best_s, time_s);
    total_s += time_s;
  }
  return bytes / best_s;
}

}  // namespace penstock::probe

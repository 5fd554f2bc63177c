// Work that all ranks do at once, and how long the last of them takes. Included by measure.hpp.
#pragma once

#include <algorithm>
#include <functional>

#include "penstock/base/base.hpp"
#include "penstock/gas/gas.hpp"

namespace penstock::measure {

/// Collective: runs `work` on every rank, from a barrier on; the seconds of the slowest rank.
inline double time_together(const gas::Team& team, const std::function<void()>& work) {
  team.barrier();
  const double begin_s = seconds();
  work();
  const auto all_s = team.all_gather(seconds() - begin_s);
  return *std::max_element(all_s.begin(), all_s.end());
}

/// The same on every thread of every rank's crew.
inline double time_together(const gas::Team& team, Crew& crew, const std::function<void(int)>& work) {
  return time_together(team, [&] { crew.run(work); });
}

}  // namespace penstock::measure

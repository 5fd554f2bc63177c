// Work that all threads of all ranks do at once, and how long the last of them takes.
#pragma once

#include <algorithm>
#include <functional>

#include "penstock/base/base.hpp"
#include "penstock/gas/gas.hpp"

namespace penstock::measure {

/// Collective: runs `work` on every thread of every rank's crew, between barriers; the seconds of the slowest rank.
inline double time_together(const gas::Team& team, Crew& crew, const std::function<void(int)>& work) {
  team.barrier();
  const double begin_s = seconds();
  crew.run(work);
  const auto all_s = team.all_gather(seconds() - begin_s);
  return *std::max_element(all_s.begin(), all_s.end());
}

}  // namespace penstock::measure

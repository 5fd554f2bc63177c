// How the clocks of nodes differ. Included by timeline.hpp.
#pragma once

#include <functional>
#include <vector>

#include "penstock/gas/gas.hpp"

#pragma GCC visibility push(default)

namespace penstock::timeline {

/// A comparison of a rank's clock with that of rank 0.
struct Clock {
  double at_s = 0;      ///< when, by the rank's own clock
  double offset_s = 0;  ///< what is to be added to the rank's clock then to have that of rank 0
};

/// Collective: compares the clocks that `clock` reads. Ranks of one node have one clock: `nodes` names by rank the
/// lowest rank of its node, as Placement does. Between nodes, the lowest ranks exchange some messages with rank 0: the
/// fastest exchange tells, with an error of half its time.
Clock compare_clocks(const gas::Team& team, const std::vector<int>& nodes, const std::function<double()>& clock);

/// What is to be added to a time by linear interpolation between two comparisons, and the same beyond them.
double offset_at(double time_s, const Clock& first, const Clock& last);

}  // namespace penstock::timeline

#pragma GCC visibility pop

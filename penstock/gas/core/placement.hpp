// Where the ranks of a team run. Included by gas.hpp.
#pragma once

#include <string>
#include <vector>

#pragma GCC visibility push(default)

namespace penstock::gas {

/// Where a team's ranks run. It is found once, when the world is made, and is the same on all ranks. A place is named
/// by the lowest rank that is there.
struct Placement {
  std::vector<int> hosts;    ///< by rank: its host, the machine whose processors and memory its ranks share
  std::vector<int> nodes;    ///< by rank: its node; containers with host names of their own are nodes of their own
  std::vector<int> limits;   ///< by rank: the control group that limits its memory
  std::vector<int> domains;  ///< by rank: its memory domain, the ranks that map one another's memory
  /// By rank: its share of processors. That is the number of processors that it may use, divided by the number of ranks
  /// of its host that may use exactly the same ones, rounded down; at least 1.
  std::vector<int> processors;
  std::vector<std::string> names;  ///< by rank: the name of its node

  /// The number of ranks in the same place as `rank`, itself included; `places` is one of the lists above.
  static int sharers(const std::vector<int>& places, int rank);
  /// The number of different places.
  static int count(const std::vector<int>& places);
};

}  // namespace penstock::gas

#pragma GCC visibility pop

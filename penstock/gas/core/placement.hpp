// Where the ranks of a team run. Included by gas.hpp.
#pragma once

#include <string>
#include <vector>

namespace penstock::gas {

/// Where a team's ranks run: found once, when the world is made, and the same on all ranks. A place is named by the
/// lowest rank that is there.
struct Placement {
  std::vector<int> hosts;    ///< by rank: the system that it runs on, whose processors and memory its ranks share
  std::vector<int> nodes;    ///< by rank: the same, but that containers with names of their own are nodes of their own
  std::vector<int> limits;   ///< by rank: the control group that limits its memory
  std::vector<int> domains;  ///< by rank: the ranks that map one another's memory
  /// By rank: the processors that it may use, over the ranks of its host that may use the same ones; at least 1.
  std::vector<int> processors;
  std::vector<std::string> names;  ///< by rank: what its node is called

  /// How many ranks are in the same one of `places`, which is a member, as `rank`.
  static int sharers(const std::vector<int>& places, int rank);
  /// How many places there are.
  static int count(const std::vector<int>& places);
};

}  // namespace penstock::gas

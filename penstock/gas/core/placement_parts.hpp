// How ranks find out where they run, and make a Placement of it. Private to the module.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "penstock/base/processor_set.hpp"
#include "penstock/gas/core/placement.hpp"

namespace penstock::gas {

/// What a rank tells of where it runs. Trivially copyable.
struct RankPlacement {
  std::uint64_t host = 0;       ///< a hash of what names the running system
  std::uint64_t node = 0;       ///< and of the name that it goes by
  std::uint64_t limit = 0;      ///< and of the control group
  std::int32_t domain = 0;      ///< the lowest rank whose memory it maps
  ProcessorSet processors;      ///< that it may use
  std::array<char, 64> name{};  ///< of the node; ends with 0
};

/// Where this process runs, and this thread may.
RankPlacement find_rank_placement();

/// Of the ranks that told `places`.
Placement placement_of(std::span<const RankPlacement> places);

/// Whether the ranks in the memory domain of `rank` are more than the processors that they may use together.
bool outnumber_processors(std::span<const RankPlacement> places, int rank);

/// Of some ranks of a world, in their order.
Placement placement_of(const Placement& world, std::span<const int> ranks);

}  // namespace penstock::gas

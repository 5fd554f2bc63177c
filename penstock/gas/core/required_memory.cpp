// What ranks want of their hosts' memory, added up and refused on every rank where it is more than there is.
#include <fmt/format.h>

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/gas/core/placement.hpp"
#include "penstock/gas/core/rank_index.hpp"
#include "penstock/gas/core/team.hpp"

namespace penstock::gas {

void Team::require_memory(std::string_view what, std::uint64_t bytes, std::uint64_t budget_bytes) const {
  const std::vector<std::uint64_t> all = all_gather(bytes);
  const auto wanted_in = [&](const std::vector<int>& places) {
    std::uint64_t wanted = 0;
    for (int rank = 0; rank < size_; ++rank) {
      const std::uint64_t added = places[index(rank)] == places[index(rank_)] ? all[index(rank)] : 0;
      wanted = added > std::numeric_limits<std::uint64_t>::max() - wanted ? std::numeric_limits<std::uint64_t>::max()
                                                                          : wanted + added;
    }
    return wanted;
  };
  const auto lack = [&](std::uint64_t wanted, std::uint64_t has) {
    return wanted <= has ? std::string()
                         : fmt::format(
                               "{} wants {} of memory on {}, which has {}: take a smaller size, single "
                               "precision or more nodes",
                               what, format_bytes(wanted), placement().names[index(rank_)], format_bytes(has));
  };
  if (budget_bytes > 0) {
    agree(lack(wanted_in(placement().nodes), budget_bytes));
    return;
  }
  const std::string of_host = lack(wanted_in(placement().hosts), host_memory_left());
  agree(of_host.empty() ? lack(wanted_in(placement().limits), group_memory_left()) : of_host);
}

}  // namespace penstock::gas

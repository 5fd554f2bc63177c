#include "penstock/gas/core/placement.hpp"

#include <unistd.h>

#include <algorithm>
#include <functional>
#include <set>
#include <string_view>
#include <tuple>
#include <type_traits>

#include "penstock/base/base.hpp"
#include "penstock/base/control_group.hpp"
#include "penstock/gas/core/placement_parts.hpp"
#include "penstock/gas/core/rank_index.hpp"

namespace penstock::gas {
namespace {

std::uint64_t hash_of(std::string_view text) {
  return std::hash<std::string_view>()(text);
}

/// Launchers bind ranks to processors of their own, or let them share: ranks with the same ones share them.
std::vector<int> shares_of_processors(std::span<const RankPlacement> places) {
  const auto is_before = [](const RankPlacement* a, const RankPlacement* b) {
    return std::tie(a->host, a->processors) < std::tie(b->host, b->processors);
  };
  std::multiset<const RankPlacement*, decltype(is_before)> known(is_before);
  for (const RankPlacement& place : places) {
    known.insert(&place);
  }
  std::vector<int> shares;
  for (const RankPlacement& place : places) {
    shares.push_back(std::max(place.processors.count() / static_cast<int>(known.count(&place)), 1));
  }
  return shares;
}

}  // namespace

int Placement::sharers(const std::vector<int>& places, int rank) {
  return static_cast<int>(std::ranges::count(places, places[index(rank)]));
}

int Placement::count(const std::vector<int>& places) {
  return static_cast<int>(std::set<int>(places.begin(), places.end()).size());
}

RankPlacement find_rank_placement() {
  RankPlacement place;
  gethostname(place.name.data(), place.name.size() - 1);
  const std::string host = system_identity();
  const std::string node = host + place.name.data();
  place.host = hash_of(host);
  place.node = hash_of(node);
  place.limit = hash_of(host + memory_group_identity());
  place.processors = ProcessorSet::of_this_thread();
  return place;
}

bool outnumber_processors(std::span<const RankPlacement> places, int rank) {
  ProcessorSet together;
  int ranks = 0;
  for (const RankPlacement& place : places) {
    if (place.domain == places[index(rank)].domain) {
      together.add(place.processors);
      ++ranks;
    }
  }
  const int processors = together.count();  // 0 where there are more than a set can tell: enough for all
  return processors > 0 && ranks > processors;
}

Placement placement_of(std::span<const RankPlacement> places) {
  const auto lowest = [&](auto member) {
    std::vector<std::uint64_t> marks;
    for (const RankPlacement& place : places) {
      marks.push_back(static_cast<std::uint64_t>(place.*member));
    }
    return lowest_alike(marks);
  };
  Placement placement{.hosts = lowest(&RankPlacement::host),
                      .nodes = lowest(&RankPlacement::node),
                      .limits = lowest(&RankPlacement::limit),
                      .domains = lowest(&RankPlacement::domain),
                      .processors = shares_of_processors(places),
                      .names = {}};
  for (const RankPlacement& place : places) {
    placement.names.emplace_back(place.name.data());
  }
  if constexpr (is_simulated) {
    placement.hosts = placement.nodes = placement.limits = placement.domains;  // all run in one process
  }
  return placement;
}

Placement placement_of(const Placement& world, std::span<const int> ranks) {
  const auto of = [&](const auto& all) {
    std::remove_cvref_t<decltype(all)> some;
    for (const int rank : ranks) {
      some.push_back(all[index(rank)]);
    }
    return some;
  };
  return {.hosts = lowest_alike(of(world.hosts)),
          .nodes = lowest_alike(of(world.nodes)),
          .limits = lowest_alike(of(world.limits)),
          .domains = lowest_alike(of(world.domains)),
          .processors = of(world.processors),
          .names = of(world.names)};
}

}  // namespace penstock::gas

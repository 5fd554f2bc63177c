// Where ranks run follows from what each tells of its place: hosts, containers, control groups, processors.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "penstock/gas/core/placement_parts.hpp"

namespace penstock::gas {
namespace {

RankPlacement place(std::uint64_t host, std::uint64_t node, std::uint64_t limit, int domain, ProcessorSet processors) {
  return {.host = host, .node = node, .limit = limit, .domain = domain, .processors = processors, .name = {'a', '\0'}};
}

using Ranks = std::vector<int>;

TEST(Placement, OfRanksThatALauncherSpreadsOverTwoHosts) {
  const std::vector<RankPlacement> places{place(7, 70, 1, 0, {0, 1, 2, 3}), place(8, 80, 1, 1, {0, 1}),
                                          place(7, 70, 1, 0, {0, 1, 2, 3}), place(8, 80, 1, 1, {2, 3})};
  const Placement placement = placement_of(places);
  EXPECT_EQ(placement.hosts, (Ranks{0, 1, 0, 1}));
  EXPECT_EQ(placement.nodes, (Ranks{0, 1, 0, 1}));
  EXPECT_EQ(placement.domains, (Ranks{0, 1, 0, 1}));
  // Two share four, the others are bound to two each, whose numbers the first host has as well.
  EXPECT_EQ(placement.processors, (Ranks{2, 2, 2, 2}));
  EXPECT_EQ(Placement::count(placement.hosts), 2);
  EXPECT_EQ(Placement::sharers(placement.hosts, 3), 2);
}

TEST(Placement, OfContainersWhichShareAHostsMemoryAndProcessors) {
  const std::vector<RankPlacement> places{place(7, 70, 1, 0, {0, 1}), place(7, 71, 2, 1, {0, 1}),
                                          place(7, 71, 2, 1, {0, 1})};
  const Placement placement = placement_of(places);
  EXPECT_EQ(placement.hosts, (Ranks{0, 0, 0}));
  EXPECT_EQ(placement.nodes, (Ranks{0, 1, 1}));
  EXPECT_EQ(placement.limits, (Ranks{0, 1, 1}));
  EXPECT_EQ(placement.domains, (Ranks{0, 1, 1}));
  EXPECT_EQ(placement.processors, (Ranks{1, 1, 1}));  // never none
}

TEST(Placement, OfSomeRanksIsThatOfTheWorldInTheirOrder) {
  const std::vector<RankPlacement> places{place(7, 70, 1, 0, {0}), place(8, 80, 1, 1, {0, 1}),
                                          place(9, 90, 1, 2, {0, 1, 2}), place(8, 80, 1, 1, {2})};
  const Placement some = placement_of(placement_of(places), Ranks{3, 2, 1});
  EXPECT_EQ(some.hosts, (Ranks{0, 1, 0}));
  EXPECT_EQ(some.domains, (Ranks{0, 1, 0}));
  EXPECT_EQ(some.processors, (Ranks{1, 3, 2}));
}

TEST(Placement, OfThisProcessHasItsProcessors) {
  const RankPlacement here = find_rank_placement();
  EXPECT_EQ(here.processors, ProcessorSet::of_this_thread());
  EXPECT_EQ(placement_of(std::vector<RankPlacement>{here}).processors, Ranks{usable_processors()});
}

TEST(Placement, OfMoreRanksThanProcessorsIsNoticed) {
  const std::vector<RankPlacement> places{place(7, 70, 1, 0, {0, 1}), place(7, 70, 1, 0, {0, 1}),
                                          place(8, 80, 1, 2, {0}), place(8, 80, 1, 2, {0}), place(9, 90, 1, 4, {})};
  EXPECT_FALSE(outnumber_processors(places, 0));
  EXPECT_TRUE(outnumber_processors(places, 2));
  EXPECT_TRUE(outnumber_processors(places, 3));
  EXPECT_FALSE(outnumber_processors(places, 4));  // whose processors the system does not tell
}

}  // namespace
}  // namespace penstock::gas

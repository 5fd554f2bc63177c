// The probes run on every world, agree on one figure, and stay within what any machine can do.
#include <gtest/gtest.h>

#include "penstock/base/base.hpp"
#include "penstock/probe/probe.hpp"
#include "tests/worlds.hpp"

namespace penstock::probe {
namespace {

using gas::on_worlds;
using gas::Team;

void expect_same_everywhere(const Team& team, double rate) {
  for (const double other : team.all_gather(rate)) {
    EXPECT_EQ(other, rate);
  }
}

TEST(MemoryBandwidth, IsOneFigureForAllRanks) {
  on_worlds({1, 2, 3}, [](Team& team) {
    const Memory memory(std::size_t{4} << 20);
    const double rate = memory_bandwidth(team, 2, {memory.data(), memory.size()});
    EXPECT_GT(rate, 1e6);
    EXPECT_LT(rate, 1e15);
    expect_same_everywhere(team, rate);
  });
}

TEST(MemoryBandwidth, ToleratesRanksWithoutMemory) {
  on_worlds({1, 3}, [](Team& team) {
    EXPECT_EQ(memory_bandwidth(team, 1, {}), 0);
    const Memory memory(team.rank() == 0 ? 1 << 20 : 0);
    EXPECT_GT(memory_bandwidth(team, 1, {memory.data(), memory.size()}), 0);
  });
}

TEST(FftRate, IsOneFigureForAllRanks) {
  on_worlds({1, 2}, [](Team& team) {
    const machine::Node node = machine::built_in().node;
    for (const double rate :
         {fft_rate<double>(team, 2, node, {64, 37, 1}), fft_rate<float>(team, 1, node, {5, 3, 2})}) {
      EXPECT_GT(rate, 1e5);
      EXPECT_LT(rate, 1e15);
      expect_same_everywhere(team, rate);
    }
    EXPECT_EQ(fft_rate<double>(team, 1, node, {1, 1, 1}), 0);
  });
}

TEST(FftRate, AddsUpTilesThatDifferByRank) {
  on_worlds({2}, [](Team& team) {
    machine::Node node = machine::built_in().node;
    node.cache_l2_bytes = team.rank() == 0 ? std::int64_t{1} << 16 : std::int64_t{1} << 20;
    expect_same_everywhere(team, fft_rate<double>(team, 1, node, {512, 1, 1}));
  });
}

}  // namespace
}  // namespace penstock::probe

// Networks beside figures worked out by hand, brute force, and each other.
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <set>
#include <vector>

#include "penstock/model/model.hpp"
#include "tests/fails_with.hpp"

namespace penstock::model {
namespace {

using machine::Network;
using machine::Topology;

Network torus_of(std::vector<std::int64_t> dimensions) {
  return {.topology = Topology::torus, .dimensions = std::move(dimensions), .link_bandwidth_bytes_per_s = 1e9};
}

Network simple(Topology topology) {
  return {.topology = topology, .link_bandwidth_bytes_per_s = 1e9};
}

const Network dragonfly{.topology = Topology::dragonfly,
                        .nodes_per_router = 2,
                        .routers_per_group = 4,
                        .global_links_per_router = 2,
                        .link_bandwidth_bytes_per_s = 1e9};

Network fat_tree(double oversubscription) {
  return {.topology = Topology::fat_tree,
          .nodes_per_leaf = 8,
          .oversubscription = oversubscription,
          .link_bandwidth_bytes_per_s = 1e9};
}

struct Expected {
  double links, diameter, bisection_links, load;
};

void expect_facts(const Network& network, std::int64_t nodes, const Expected& expected) {
  const TopologyMetrics facts = topology_metrics(network, nodes);
  EXPECT_DOUBLE_EQ(facts.links, expected.links);
  EXPECT_DOUBLE_EQ(facts.diameter, expected.diameter);
  EXPECT_DOUBLE_EQ(facts.bisection_links, expected.bisection_links);
  EXPECT_DOUBLE_EQ(facts.bisection_bytes_per_s, expected.bisection_links * 1e9);
  EXPECT_DOUBLE_EQ(facts.all_to_all_load, expected.load);
}

TEST(Topology, HasItsFacts) {
  expect_facts(simple(Topology::bus), 16, {1, 1, 1, 15});
  expect_facts(simple(Topology::crossbar), 16, {16, 2, 8, 15.0 / 16});
  expect_facts(simple(Topology::hypercube), 16, {32, 4, 8, 0.5});
  expect_facts(torus_of({8, 8}), 64, {128, 8, 16, 1});
  expect_facts(torus_of({4, 4, 8}), 128, {384, 8, 32, 1});
  Network mesh = torus_of({8, 8});
  mesh.topology = Topology::mesh;
  expect_facts(mesh, 64, {112, 14, 8, 2});
  expect_facts(torus_of({5, 5}), 25, {50, 4, 10, 0.6});
  expect_facts(fat_tree(1), 64, {128, 4, 32, 56.0 / 64 / (1 - std::pow(7.0 / 8, 8))});
  expect_facts(fat_tree(4), 64, {80, 4, 8, 4 * 56.0 / 64 / (1 - std::pow(1.0 / 2, 8))});
  expect_facts(fat_tree(1), 8, {8, 2, 4, 7.0 / 8});
  // 9 groups of 4 routers with 2 nodes: 72 nodes, 54 local links, 36 global ones; 20 pairs of groups across the halves.
  expect_facts(dragonfly, 72, {72 + 54 + 36, 5, 20, std::max(71.0 / 72, 2 * (2.0 / 72 + 2 * 64.0 / 72 / 4))});
}

TEST(Topology, OfOneNodeMovesNothing) {
  for (const Network& network : {simple(Topology::bus), simple(Topology::crossbar), simple(Topology::hypercube),
                                 torus_of({4, 4}), fat_tree(2), dragonfly}) {
    EXPECT_EQ(all_to_all_s(network, 1, 1e9), 0);
    EXPECT_EQ(topology_metrics(network, 1).diameter, 0);
  }
}

TEST(Topology, OfSixDimensionsWithTwoNodesEachIsAHypercube) {
  const TopologyMetrics torus = topology_metrics(torus_of({2, 2, 2, 2, 2, 2}), 64);
  const TopologyMetrics cube = topology_metrics(simple(Topology::hypercube), 64);
  EXPECT_EQ(torus.links, cube.links);
  EXPECT_EQ(torus.diameter, cube.diameter);
  EXPECT_EQ(torus.bisection_links, cube.bisection_links);
  EXPECT_EQ(torus.all_to_all_load, cube.all_to_all_load);
}

TEST(Topology, NeedsTheTimeOfItsBisectionAndNoLess) {
  // Half of each node's bytes cross between the halves, in both directions at once.
  for (const std::int64_t extent : {4, 8, 16}) {
    const std::int64_t nodes = extent * extent * extent;
    const Network network = torus_of({extent, extent, extent});
    const double across = static_cast<double>(nodes) / 2 * 1e6 / 2;
    EXPECT_NEAR(all_to_all_s(network, nodes, 1e6), across / topology_metrics(network, nodes).bisection_bytes_per_s,
                1e-12);
  }
}

TEST(Topology, GainsBandwidthButNoMoreThanTwiceByTwiceTheLinks) {
  for (Network network : {simple(Topology::bus), simple(Topology::crossbar), simple(Topology::hypercube),
                          torus_of({4, 4, 4}), fat_tree(3), dragonfly}) {
    const double before = all_to_all_s(network, 64, 1e6);
    network.link_bandwidth_bytes_per_s *= 2;
    EXPECT_NEAR(all_to_all_s(network, 64, 1e6), before / 2, 1e-12);
    EXPECT_NEAR(all_to_all_s(network, 64, 3e6), 1.5 * before, 1e-12);
  }
}

TEST(Topology, LosesBandwidthPerNodeAsItGrowsButForTheCrossbarAndTheCube) {
  const Network torus = torus_of({1024, 1024});
  EXPECT_NEAR(topology_metrics(torus, 4096).all_to_all_load / topology_metrics(torus, 1024).all_to_all_load, 2, 1e-12);
  EXPECT_NEAR(topology_metrics(simple(Topology::crossbar), 1 << 20).all_to_all_load, 1, 1e-5);
  EXPECT_EQ(topology_metrics(simple(Topology::hypercube), 1 << 20).all_to_all_load, 0.5);
}

TEST(Topology, ThatCannotBeIsRefused) {
  EXPECT_TRUE(fails_with({"power of 2", "24"}, [] { topology_metrics(simple(Topology::hypercube), 24); }));
  EXPECT_TRUE(fails_with({"10 groups", "reach 8 others"}, [] { topology_metrics(dragonfly, 80); }));
  EXPECT_TRUE(fails_with({"0 nodes"}, [] { topology_metrics(simple(Topology::bus), 0); }));
}

TEST(Torus, HasShapesOfItsPartitionsOrAsEvenAsCanBe) {
  Network network = torus_of({8, 32, 16});
  network.partitions = {{8, 8, 32}};
  using Shape = std::vector<std::int64_t>;
  EXPECT_EQ(shape_of(network, 4096), (Shape{8, 32, 16}));
  EXPECT_EQ(shape_of(network, 2048), (Shape{8, 8, 32}));
  EXPECT_EQ(shape_of(network, 512), (Shape{8, 8, 8}));
  EXPECT_EQ(shape_of(network, 128), (Shape{4, 4, 8}));
  EXPECT_EQ(shape_of(network, 7), (Shape{1, 1, 7}));
  EXPECT_EQ(shape_of(network, 1), (Shape{1, 1, 1}));
  EXPECT_EQ(shape_of(torus_of({2, 3, 64}), 128), (Shape{2, 2, 32})) << "within the machine";
  EXPECT_EQ(shape_of(torus_of({2, 3, 4}), 64), (Shape{4, 4, 4})) << "beyond it";
}

TEST(Torus, IsAMeshWhereItsPartIsSmall) {
  Network network = torus_of({8, 8, 8});
  network.torus_from_nodes = 512;
  EXPECT_EQ(topology_metrics(network, 64).all_to_all_load, 1);
  EXPECT_EQ(topology_metrics(network, 512).all_to_all_load, 1);
  network.torus_from_nodes = 513;
  EXPECT_EQ(topology_metrics(network, 512).all_to_all_load, 2);
}

TEST(RingLoad, IsThatOfTheKnownFormulas) {
  for (std::int64_t extent = 1; extent <= 24; ++extent) {
    const auto k = static_cast<double>(extent);
    const double line = std::floor(k / 2) * std::ceil(k / 2) / k;
    const double ring = extent <= 2 ? line : extent % 2 == 0 ? k / 8 : (k * k - 1) / (8 * k);
    EXPECT_NEAR(ring_load(extent, false, extent, 1), line, 1e-12) << extent;
    EXPECT_NEAR(ring_load(extent, true, extent, 1), ring, 1e-12) << extent;
  }
}

TEST(RingLoad, OfTeamsOfTheirOwnPartsIsThatOfSmallerLines) {
  EXPECT_NEAR(ring_load(16, true, 4, 1), ring_load(4, false, 4, 1), 1e-12);
  EXPECT_EQ(ring_load(16, true, 1, 4), 0);
  // Four interleaved teams of four load a ring of 16 like one team of 16, but for the hops within a stride.
  EXPECT_NEAR(ring_load(16, true, 4, 4), 2, 1e-12);
}

/// The seven grids of seed 0: TY = X Y, TZ = Z T.
TEST(GridLoad, OfBlueGeneIsThatOfItsMapping) {
  Network network = torus_of({8, 16, 32});
  network.partitions = {{8, 8, 32}};
  network.torus_from_nodes = 512;
  struct Case {
    std::int64_t nodes, ty, tz;
    double rows, columns;
  };
  for (const Case& c : {Case{64, 16, 16, 1, 1},
                        {128, 16, 32, 1, 2},
                        {256, 32, 32, 2, 2},
                        {512, 64, 32, 1, 1},
                        {1024, 64, 64, 1, 2},
                        {2048, 64, 128, 1, 4},
                        {4096, 128, 128, 2, 4}}) {
    const GridLoad found = grid_load(network, c.nodes, 4, c.ty, c.tz, RankOrder::nodes_first);
    EXPECT_TRUE(found.is_mapped);
    EXPECT_DOUBLE_EQ(found.load[0], c.rows) << c.nodes;
    EXPECT_DOUBLE_EQ(found.load[1], c.columns) << c.nodes;
    EXPECT_DOUBLE_EQ(found.off_node[0], 1 - 1.0 / static_cast<double>(c.ty));
    EXPECT_DOUBLE_EQ(found.off_node[1], 1 - 4.0 / static_cast<double>(c.tz));
  }
}

TEST(GridLoad, OfRowsWithinANodeIsNone) {
  const GridLoad found = grid_load(fat_tree(1), 16, 8, 8, 16, RankOrder::cores_first);
  EXPECT_EQ(found.load[0], 0);
  EXPECT_EQ(found.off_node[0], 0);
  EXPECT_DOUBLE_EQ(found.off_node[1], 15.0 / 16);
  EXPECT_DOUBLE_EQ(found.load[1], topology_metrics(fat_tree(1), 16).all_to_all_load);
}

TEST(GridLoad, MayLeaveRoomOnTheLastNode) {
  const GridLoad found = grid_load(fat_tree(1), 4, 40, 8, 16, RankOrder::cores_first);
  EXPECT_EQ(found.off_node[0], 0) << "rows of 8 within nodes of 40";
  EXPECT_DOUBLE_EQ(found.off_node[1], 1 - 5.0 / 16) << "five of a column's ranks share a node";
  EXPECT_TRUE(
      fails_with({"8 x 16", "3 nodes of 40"}, [] { grid_load(fat_tree(1), 3, 40, 8, 16, RankOrder::cores_first); }));
  EXPECT_TRUE(fails_with({"5 nodes of 40"}, [] { grid_load(fat_tree(1), 5, 40, 8, 16, RankOrder::cores_first); }));
}

TEST(GridLoad, ThatDoesNotFollowTheTorusIsTakenForAllWithAll) {
  const GridLoad found = grid_load(torus_of({8, 8, 8}), 512, 1, 16, 32, RankOrder::nodes_first);
  EXPECT_TRUE(found.is_mapped) << "rows of 8 x 2, columns of 4 x 8";
  const GridLoad other = grid_load(torus_of({6, 6}), 36, 1, 4, 9, RankOrder::nodes_first);
  EXPECT_FALSE(other.is_mapped);
  EXPECT_TRUE(fails_with({"4 x 8", "36 nodes of 1"}, [] {
    grid_load(torus_of({6, 6}), 36, 1, 4, 8, RankOrder::nodes_first);
  }));
}

/// Figure 4.17 of the lecture: nodes 1 to 8, two at each leaf, two spines. 1-5 and 4-8 keep their ways.
TEST(FatTree, WithStaticRoutesCollidesWhereTheLectureShows) {
  EXPECT_EQ(max_routes_on_a_link(2, std::vector<TreeRoute>{{0, 4, 0}, {1, 5, 1}, {2, 6, 0}, {3, 7, 1}}), 1);
  for (const int spine_of_2_7 : {0, 1}) {
    for (const int spine_of_3_6 : {0, 1}) {
      const std::vector<TreeRoute> routes{{0, 4, 0}, {1, 6, spine_of_2_7}, {2, 5, spine_of_3_6}, {3, 7, 1}};
      EXPECT_EQ(max_routes_on_a_link(2, routes), 2);
    }
  }
  EXPECT_EQ(max_routes_on_a_link(2, std::vector<TreeRoute>{{0, 4, 0}, {1, 6, 1}, {2, 5, 1}, {3, 7, 0}}), 1)
      << "re-routed";
}

TEST(FatTree, WithStaticRoutesUsesThePartOfItsUplinksThatDrawingLotsGives) {
  std::mt19937 random(3);
  for (const int uplinks : {1, 4, 18}) {
    double used = 0;
    const int rounds = 20000;
    for (int round = 0; round < rounds; ++round) {
      std::set<unsigned long> hit;
      for (int message = 0; message < 18; ++message) {
        hit.insert(random() % static_cast<unsigned long>(uplinks));
      }
      used += static_cast<double>(hit.size()) / uplinks / rounds;
    }
    EXPECT_NEAR(static_routing_share(18, uplinks), used, 0.005);
  }
  EXPECT_NEAR(static_routing_share(1e6, 1e6), 1 - std::exp(-1), 1e-6);
}

TEST(Topology, APartIsJoinedMoreSimplyThanTheMachineWhereItIsSmall) {
  EXPECT_EQ(topology_metrics(fat_tree(2), 8).topology, Topology::crossbar);
  const TopologyMetrics two_leaves = topology_metrics(fat_tree(2), 9);
  EXPECT_EQ(two_leaves.topology, Topology::fat_tree);
  EXPECT_EQ(two_leaves.parts, 2);
  EXPECT_EQ(topology_metrics(dragonfly, 2).topology, Topology::crossbar);
  EXPECT_EQ(topology_metrics(dragonfly, 17).parts, 3);
  Network torus = torus_of({4, 4});
  torus.torus_from_nodes = 16;
  EXPECT_EQ(topology_metrics(torus, 8).topology, Topology::mesh);
  EXPECT_EQ(topology_metrics(torus, 16).topology, Topology::torus);
  EXPECT_EQ(topology_metrics(simple(Topology::bus), 4).topology, Topology::bus);
}

}  // namespace
}  // namespace penstock::model

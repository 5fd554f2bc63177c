// What is reproduced of the documents: each figure within its tolerance, or told why not, and no other ones than known.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>
#include <string>

#include "penstock/lab/reproductions/reproductions.hpp"
#include "tests/fails_with.hpp"

namespace penstock::lab {
namespace {

TEST(Reproduction, TellsWhyWhereAFigureDoesNotFollow) {
  for (const std::string_view name : reproduction_names()) {
    const Reproduction found = reproduce(name);
    EXPECT_EQ(found.name, name);
    EXPECT_GE(found.statements.size(), 8U);
    for (const Statement& statement : found.statements) {
      EXPECT_TRUE(std::isfinite(statement.ours)) << statement.what;
      EXPECT_TRUE(statement.reproduces() || !statement.note.empty()) << statement.what << ": " << statement.ours;
      EXPECT_TRUE(statement.theirs || !statement.note.empty()) << statement.what;
    }
    for (const Curves& curves : found.curves) {
      for (const Curves::Series& series : curves.series) {
        EXPECT_EQ(series.y.size(), curves.x.size()) << curves.title << ", " << series.name;
      }
    }
  }
}

/// How many figures do not follow. A change here is a finding: the documents do not change.
TEST(Reproduction, FailsWhereTheDocumentsAreKnownToBeWrong) {
  const auto failing = [](std::string_view name) {
    std::set<std::string> names;
    for (const Statement& statement : reproduce(name).statements) {
      if (!statement.reproduces()) {
        names.insert(statement.what);
      }
    }
    return names;
  };
  using Names = std::set<std::string>;
  EXPECT_EQ(failing("ping-pong"), Names{});
  EXPECT_EQ(failing("scaling"), Names{});
  EXPECT_EQ(failing("bluegene-p"), Names{});
  EXPECT_EQ(failing("exascale"),
            (Names{"Table 1: ten years of memory bandwidth, doubling in 3",
                   "Table 1: ten years of machine peak, doubling in 1", "Table 1: ten years of nodes, doubling in 2.4",
                   "Table 1: cores of 2020, CPU", "Prediction 1: GPU-like machine of 2020 [printed]",
                   "Prediction 1: its part of the peak [printed]", "Prediction 1: its part of the peak [uncapped]",
                   "Prediction 2: CPU-1 over GPU [printed]", "Figure 5: GPU, T_net / T_mem [printed]",
                   "Figure 5: nodes of CPU-2 [printed]", "Figure 5: peak of CPU-2 [printed]",
                   "Figure 5: nodes of CPU-3 [printed]", "Figure 5: nodes of CPU-3 over GPU [printed]",
                   "Prediction 3: eq. 5 over eq. 4, \"as much as 10 times faster\", in 2020"}));
  EXPECT_EQ(failing("digpufft"), (Names{"Figure 4: network over bus, of what is left of 100 %",
                                        "Figure 4: transposes over bus, by eq. 8 in the GPUs' memory",
                                        "Figure 4: transforms over bus", "Figure 4: the bus in all"}));
  EXPECT_EQ(
      failing("htmt"),
      (Names{"b_c of which 7 b_c^2 words fit into 1 MiB less 180 KB (section 5)", "Table 3: D_S", "headline, by eq. 5",
             "headline, by eq. 6 as printed", "headline, by the formula printed for P", "headline's rate, by eq. 5",
             "headline's rate, by eq. 6 as printed", "headline's rate, by the formula printed for P",
             "percolation in eq. 6", "DRAM_at's factor in eq. 6"}));
}

TEST(Reproduction, OfBlueGeneHasTheOrderAndTheShapeOfItsFigures) {
  for (const Curves& curves : reproduce("bluegene-p").curves) {
    if (curves.x_name != "cores") {
      continue;
    }
    ASSERT_EQ(curves.series.size(), 4U);
    for (std::size_t i = 0; i < curves.x.size(); ++i) {
      const double bound = curves.series[0].y[i];
      const double one_sided = curves.series[1].y[i];
      const double packed = curves.series[2].y[i];
      const double slabs = curves.series[3].y[i];
      EXPECT_LT(one_sided, bound) << curves.x[i];
      EXPECT_GT(one_sided, packed) << curves.x[i];
      EXPECT_GT(packed, slabs) << curves.x[i];
    }
  }
}

TEST(Reproductions, SayWhatTestsNoModel) {
  std::map<Basis, int> counts;
  for (const std::string_view name : reproduction_names()) {
    for (const Statement& statement : reproduce(name).statements) {
      counts[statement.basis] += statement.theirs ? 1 : 0;
      if (statement.what.find("its own curve") != std::string::npos) {
        EXPECT_EQ(statement.basis, Basis::refit) << statement.what;
      }
      if (statement.note.find("fitted to these") != std::string::npos) {
        EXPECT_EQ(statement.basis, Basis::fitted) << statement.what;
      }
    }
  }
  EXPECT_EQ(counts[Basis::refit], 10);  // four fits of T_l and B, two of s
  EXPECT_EQ(counts[Basis::fitted], 8);  // of BlueGene/P
  EXPECT_GT(counts[Basis::derived], 30);
}

TEST(Reproduction, OfAnUnknownNameIsRefused) {
  EXPECT_TRUE(fails_with({"'dreams'", "ping-pong, scaling, bluegene-p, exascale, digpufft, htmt"},
                         [] { reproduce("dreams"); }));
}

}  // namespace
}  // namespace penstock::lab

// The time of a pass over storage is the longer of moving and computing, and what cannot overlap.
#include <gtest/gtest.h>

#include "penstock/model/model.hpp"

namespace penstock::model {
namespace {

const StorageCosts costs{.read_bytes_per_s = 2, .write_bytes_per_s = 1, .rate_flops = 10};

TEST(StoragePass, BoundByStorageHidesWhatIsComputed) {
  // 5 s and 10 s of moving; 4 s of computing, all of it while something moves.
  EXPECT_DOUBLE_EQ(storage_pass_s(costs, {.read_bytes = 10, .written_bytes = 10, .flops = 40}), 15);
  // Without anything to compute the edges cost nothing more.
  EXPECT_DOUBLE_EQ(storage_pass_s(costs, {.read_bytes = 10, .written_bytes = 10, .edge_bytes = 3}), 15);
}

TEST(StoragePass, BoundByComputingWaitsForItsEdges) {
  // 20 s of computing; of 15 s of moving, the first and the last piece's 1 s and 2 s stand alone.
  EXPECT_DOUBLE_EQ(storage_pass_s(costs, {.read_bytes = 10, .written_bytes = 10, .flops = 200, .edge_bytes = 2}), 23);
  // One piece: nothing overlaps.
  EXPECT_DOUBLE_EQ(storage_pass_s(costs, {.read_bytes = 10, .written_bytes = 10, .flops = 200, .edge_bytes = 10}), 35);
}

}  // namespace
}  // namespace penstock::model

// Tilings fit into the memory that they are chosen for, and a smaller product of time and traffic is preferred.
#include <gtest/gtest.h>

#include "penstock/model/model.hpp"
#include "tests/fails_with.hpp"

namespace penstock::model {
namespace {

constexpr TilingRates figures{.threads = 2, .rate_flops = 100e9, .storage_bytes_per_s = 1e9, .copy_bytes_per_s = 4e9};

TEST(Tiling, FitsIntoTheMemoryForAnyShape) {
  for (const std::int64_t m : {0, 1, 100, 3001, 50000}) {
    for (const std::int64_t n : {0, 1, 257, 40000}) {
      for (const std::int64_t k : {0, 1, 513, 20000}) {
        for (const std::int64_t memory : {std::int64_t{8} << 20, std::int64_t{256} << 20}) {
          const Product product{.m = m, .n = n, .k = k, .element_bytes = 8};
          const Tiling tiling = choose_tiling(product, figures, memory, 0);
          EXPECT_LE(tiling_bytes(product, tiling, figures.threads), memory);
          EXPECT_GE(tiling.tile_m, tiling.strip);
          EXPECT_EQ(tiling.tile_m % tiling.strip, 0);
          EXPECT_GE(tiling.depth, 1);
          EXPECT_LE(tiling.tile_n, std::max<std::int64_t>(n, 1));
        }
      }
    }
  }
}

TEST(Tiling, MovesNearTheLeastThatTheMemoryAllows) {
  const Product product{.m = 16384, .n = 16384, .k = 16384, .element_bytes = 8};
  const Tiling tiling = choose_tiling(product, figures, std::int64_t{240} << 20, 0);
  // Square tiles of all the memory would move A and B n / sqrt(memory / 8) times.
  const double matrix_bytes = 16384.0 * 16384 * 8;
  const double min_bytes = (2 * 16384 / 5600.0 + 1) * matrix_bytes;
  EXPECT_LT(tiling_traffic_bytes(product, tiling), 1.5 * min_bytes);
}

TEST(Tiling, IsRefusedWithTheLeastThatWouldDo) {
  const Product product{.m = 1000, .n = 1000, .k = 1000, .element_bytes = 8};
  EXPECT_TRUE(fails_with({"is too small", "give at least"},
                         [&] { choose_tiling(product, figures, 100 << 10, std::int64_t{20} << 20); }));
  EXPECT_TRUE(fails_with({"is too small"}, [&] { choose_tiling(product, figures, -5, std::int64_t{20} << 20); }));
}

}  // namespace
}  // namespace penstock::model

// Storage is measured by files that leave nothing behind.
#include <gtest/gtest.h>

#include <filesystem>

#include "penstock/percolate/percolate.hpp"
#include "tests/fails_with.hpp"
#include "tests/temporary_folder.hpp"

namespace penstock::percolate {
namespace {

constexpr std::int64_t little = std::int64_t{1} << 16;

void expect_possible(const StorageRates& rates) {
  EXPECT_GT(rates.median_read_bytes_per_s, 1e3);
  EXPECT_GT(rates.median_write_bytes_per_s, 1e3);
  EXPECT_LE(rates.median_read_bytes_per_s, rates.read_bytes_per_s);
  EXPECT_LE(rates.median_write_bytes_per_s, rates.write_bytes_per_s);
  EXPECT_LT(rates.read_bytes_per_s, 1e15);
  EXPECT_LT(rates.write_bytes_per_s, 1e15);
}

TEST(Storage, IsMeasuredInPassesAndLeavesNothingBehind) {
  // On a disk, and where files lie in memory, which not every system reads past its cache.
  for (const auto& parent : {std::filesystem::temp_directory_path(), TemporaryFolder::in_memory()}) {
    const TemporaryFolder folder(parent);
    const auto engine = make_engine();
    const StorageRates once = measure_storage(folder / "", *engine, little);
    EXPECT_EQ(once.passes, 1);
    EXPECT_EQ(once.median_read_bytes_per_s, once.read_bytes_per_s);
    EXPECT_EQ(once.is_direct, File::scratch(folder / "").passes_by_cache());
    expect_possible(once);
    const StorageRates thorough = measure_storage(folder / "", *engine, little, 3);
    EXPECT_GE(thorough.passes, 2);  // the third only where the disk is quick
    EXPECT_LE(thorough.passes, 3);
    expect_possible(thorough);
    EXPECT_TRUE(std::filesystem::is_empty(folder / ""));
  }
}

TEST(Storage, ThatIsNotThereIsTold) {
  const TemporaryFolder folder;
  const auto engine = make_engine();
  EXPECT_TRUE(fails_with({"no such"}, [&] { measure_storage(folder / "no such", *engine, little); }));
}

}  // namespace
}  // namespace penstock::percolate

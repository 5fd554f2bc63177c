// The driver runs pieces, reports on them, goes on with what an earlier run has made, and says what it needs.
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/journal/journal.hpp"
#include "penstock/outofcore/outofcore.hpp"
#include "tests/fails_with.hpp"
#include "tests/temporary_folder.hpp"

namespace penstock::outofcore {
namespace {

class DriverTest : public testing::Test {
 protected:
  std::string output() const { return folder_ / "result"; }

  /// As many parcels as `values`, each of which keeps its value; the one at `failing` throws.
  static percolate::Program sum_up(std::vector<int>& kept, int count, std::optional<int> failing = {}) {
    return [&kept, count, failing, next = 0]() mutable -> std::optional<percolate::Parcel> {
      if (next == count) {
        return std::nullopt;
      }
      percolate::Parcel parcel;
      parcel.work = [&kept, failing, number = next++] {
        if (failing == number) {
          throw Error("no more");
        }
        kept[static_cast<std::size_t>(number)] = number;
      };
      return parcel;
    };
  }

  TemporaryFolder folder_;
};

TEST_F(DriverTest, RunsProgramsAndTellsHowFarTheyAre) {
  std::vector<percolate::Progress> told;
  Options options{.memory_bytes = 1 << 20, .threads = 2};
  options.progress = [&](const percolate::Progress& at) { told.push_back(at); };
  Driver driver(options, "sum", output());
  EXPECT_EQ(driver.result().find({}), journal::ResumeState::anew);
  driver.result().open(journal::ResumeState::anew, {}, "1", "header", 6);
  std::vector<int> kept(5, -1);
  const percolate::Slots slots({{"memory", 4096}});
  driver.make([&] {
    const percolate::RunTimes times = driver.run(slots, sum_up(kept, 5), 8, [] { return Done{.done = 3, .total = 5}; });
    EXPECT_EQ(times.parcels, 5);
  });
  EXPECT_EQ(kept, (std::vector{0, 1, 2, 3, 4}));
  for (const percolate::Progress& at : told) {
    EXPECT_EQ(at.done, 3);
    EXPECT_EQ(at.total, 5);
    EXPECT_GE(at.elapsed_s, 0);
    EXPECT_LE(at.elapsed_s, driver.elapsed_s());
  }
  driver.complete({});
  EXPECT_EQ(File::open(output()).size(), 6);
}

TEST_F(DriverTest, KeepsWhatIsDoneOfARunThatFails) {
  const Options options{.memory_bytes = 1 << 20, .threads = 1};
  const journal::ResumeKey key{{"sum", "of five"}};
  {
    Driver driver(options, "sum", output());
    EXPECT_EQ(driver.result().find(key), journal::ResumeState::anew);
    driver.result().open(journal::ResumeState::anew, key, "1", "header", 6);
    std::vector<int> kept(5, -1);
    const percolate::Slots slots({{"memory", 4096}});
    EXPECT_TRUE(fails_with({"no more", "what is complete is kept"}, [&] {
      driver.make([&] { driver.run(slots, sum_up(kept, 5, 4), 1, [] { return Done{}; }); });
    }));
  }
  Driver driver(options, "sum", output());
  EXPECT_EQ(driver.result().find(key), journal::ResumeState::goes_on);
  EXPECT_EQ(driver.result().journal().fact("tiling"), "1");
}

TEST_F(DriverTest, CountsMemoryInSteps) {
  const Options options{.memory_bytes = std::int64_t{1} << 30, .threads = 2};
  const Driver driver(options, "sum", output());
  const std::int64_t step = options.memory_bytes / 128 + 1;
  EXPECT_EQ(driver.reserved_bytes() % step, 0);
  EXPECT_GT(driver.reserved_bytes(), 512 << 10);
  EXPECT_GE(driver.reserved_bytes(64 << 20), driver.reserved_bytes() + (48 << 20));
  EXPECT_EQ(driver.measuring_bytes(1 << 20), (options.memory_bytes - (1 << 20)) / 2);
  EXPECT_EQ(driver.measuring_bytes(options.memory_bytes + 1), 0);
}

TEST_F(DriverTest, SaysWhatWorkThatWasBegunNeeds) {
  const Options options{.memory_bytes = 32 << 20, .threads = 3};
  Driver driver(options, "sum", output());
  driver.check_begun(20 << 20, 13 << 20, "parts");  // a thirty-second more than there is
  EXPECT_TRUE(fails_with({"the sum was begun with parts", "3 threads", "34.0 MiB", "remove"},
                         [&] { driver.check_begun(20 << 20, 14 << 20, "parts"); }));
  EXPECT_TRUE(fails_with({"no tiling of this sum", "remove"}, [&] { throw driver.foreign_tiling(); }));
}

TEST_F(DriverTest, RefusesWhatCannotBe) {
  EXPECT_TRUE(fails_with({"a sum on 0 threads"},
                         [&] { const Driver driver({.memory_bytes = 1, .threads = 0}, "sum", output()); }));
  const Driver first({.memory_bytes = 1}, "sum", output());
  EXPECT_TRUE(fails_with({"result"}, [&] { const Driver second({.memory_bytes = 1}, "sum", output()); }));
}

}  // namespace
}  // namespace penstock::outofcore

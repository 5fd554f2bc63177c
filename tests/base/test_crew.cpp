// The crew runs work once on every thread, and hands the first failure back.
#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <utility>
#include <vector>

#include "penstock/base/base.hpp"

namespace penstock {
namespace {

TEST(Crew, RunsTheWorkOnceOnEachThreadEveryTime) {
  for (const int threads : {1, 2, 5}) {
    Crew crew(threads);
    ASSERT_EQ(crew.size(), threads);
    for (int round = 0; round < 50; ++round) {
      std::vector<std::atomic<int>> calls(static_cast<std::size_t>(threads));
      crew.run([&](int i) { ++calls[static_cast<std::size_t>(i)]; });
      for (const auto& count : calls) {
        EXPECT_EQ(count, 1);
      }
    }
  }
}

TEST(Crew, RethrowsAFailureAfterAllThreadsEndedAndStaysUsable) {
  Crew crew(3);
  std::atomic<int> ended = 0;
  EXPECT_THROW(crew.run([&](int i) {
    ++ended;
    if (i == 2) throw std::runtime_error("thread 2");
  }),
               std::runtime_error);
  EXPECT_EQ(ended, 3);
  crew.run([&](int) { ++ended; });
  EXPECT_EQ(ended, 6);
}

TEST(Crew, CanBeMovedAndDestroyedWithoutEverRunning) {
  Crew crew(4);
  Crew moved = std::move(crew);
  EXPECT_EQ(moved.size(), 4);
}

TEST(Crew, RefusesFewerThanOneThread) {
  EXPECT_THROW(Crew(0), Error);
}

}  // namespace
}  // namespace penstock

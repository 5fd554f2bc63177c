// The thread pool runs work once on every thread, and hands the first failure back.
#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <utility>
#include <vector>

#include "penstock/base/base.hpp"

namespace penstock {
namespace {

TEST(ThreadPool, RunsTheWorkOnceOnEachThreadEveryTime) {
  for (const int threads : {1, 2, 5}) {
    ThreadPool pool(threads);
    ASSERT_EQ(pool.size(), threads);
    for (int round = 0; round < 50; ++round) {
      std::vector<std::atomic<int>> calls(static_cast<std::size_t>(threads));
      pool.run([&](int i) { ++calls[static_cast<std::size_t>(i)]; });
      for (const auto& count : calls) {
        EXPECT_EQ(count, 1);
      }
    }
  }
}

TEST(ThreadPool, RethrowsAFailureAfterAllThreadsEndedAndStaysUsable) {
  ThreadPool pool(3);
  std::atomic<int> ended = 0;
  EXPECT_THROW(pool.run([&](int i) {
    ++ended;
    if (i == 2) throw std::runtime_error("thread 2");
  }),
               std::runtime_error);
  EXPECT_EQ(ended, 3);
  pool.run([&](int) { ++ended; });
  EXPECT_EQ(ended, 6);
}

TEST(ThreadPool, CanBeMovedAndDestroyedWithoutEverRunning) {
  ThreadPool pool(4);
  ThreadPool moved = std::move(pool);
  EXPECT_EQ(moved.size(), 4);
}

TEST(ThreadPool, RefusesFewerThanOneThread) {
  EXPECT_THROW(ThreadPool(0), Error);
}

}  // namespace
}  // namespace penstock

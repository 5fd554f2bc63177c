// The cache compiles equal copies once, keeps no more movers than it may, and serves many threads.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

#include "penstock/mover/mover.hpp"

namespace penstock::mover {
namespace {

using layout::Layout;

Layout rows_of(std::int64_t count) {
  return Layout::nest(0, {{{count, 24}}}, 8);
}

/// Whether the cache still has the mover of so many rows that was used until it had machine code: one compiled anew has
/// none.
bool is_kept(Cache& cache, std::int64_t count) {
  return cache.compile(rows_of(count), Layout::contiguous(8 * count)).has_code();
}

void heat(const Mover& mover) {
  std::vector<std::byte> source(4096);
  std::vector<std::byte> destination(4096);
  for (int i = 0; i < 100; ++i) {
    mover(source.data(), destination.data());
  }
}

TEST(Cache, CompilesEqualCopiesOnceHoweverTheirLayoutsWereMade) {
  Cache cache(4);
  const Mover mover = cache.compile(rows_of(6), Layout::contiguous(48));
  heat(mover);
  const Layout same = Layout::strided(2, 72, rows_of(3));
  EXPECT_EQ(cache.compile(same, Layout::contiguous(48)).has_code(), mover.has_code());
  EXPECT_FALSE(cache.compile(same, Layout::contiguous(48), Hint::streaming).has_code());
}

TEST(Cache, DropsWhatWasUsedLongestAgo) {
  Cache cache(2);
  heat(cache.compile(rows_of(3), Layout::contiguous(24)));
  const bool makes_code = is_kept(cache, 3);
  heat(cache.compile(rows_of(4), Layout::contiguous(32)));
  EXPECT_EQ(is_kept(cache, 3), makes_code);
  heat(cache.compile(rows_of(5), Layout::contiguous(40)));
  EXPECT_FALSE(is_kept(cache, 4));
}

TEST(Cache, LeavesMoversThatWereHandedOutAlive) {
  Cache cache(1);
  const Mover mover = cache.compile(rows_of(3), Layout::contiguous(24), Hint::reuse, Code::at_once);
  cache.compile(rows_of(4), Layout::contiguous(32));
  heat(mover);
}

TEST(Cache, ServesManyThreads) {
  Cache cache(8);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&cache, i] {
      for (std::int64_t k = 0; k < 500; ++k) {
        const std::int64_t count = 2 + (k * (i + 1)) % 20;
        ASSERT_EQ(cache.compile(rows_of(count), Layout::contiguous(8 * count)).bytes(), 8 * count);
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
}

}  // namespace
}  // namespace penstock::mover

// Machine code is made when it was asked for or when a mover is hot, and never lies in memory that is writable too.
#include <gtest/gtest.h>

#include <cstddef>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "penstock/base/config.hpp"
#include "penstock/mover/mover.hpp"

namespace penstock::mover {
namespace {

using layout::Layout;

const Layout rows = Layout::nest(0, {{{12, 112}}}, 40);

Mover compiled(Code code) {
  return Mover::compile(rows, Layout::contiguous(rows.bytes()), Hint::reuse, code);
}

struct Buffers {
  std::vector<std::byte> source = std::vector<std::byte>(12 * 112, std::byte{1});
  std::vector<std::byte> destination = std::vector<std::byte>(480);
};

class MachineCodeOfMovers : public testing::Test {
 protected:
  void SetUp() override {
    if (!PENSTOCK_HAS_ASMJIT) {
      GTEST_SKIP() << "this build makes no machine code";
    }
  }
};

TEST_F(MachineCodeOfMovers, IsMadeAtOnceWhereThatIsAskedFor) {
  EXPECT_TRUE(compiled(Code::at_once).has_code());
}

TEST_F(MachineCodeOfMovers, IsMadeAfterSomeUsesAndThenServesAllCopies) {
  Buffers buffers;
  const Mover mover = compiled(Code::when_hot);
  const Mover copy = mover;
  EXPECT_FALSE(mover.has_code());
  for (int i = 0; i < 100; ++i) {
    mover(buffers.source.data(), buffers.destination.data());
  }
  EXPECT_TRUE(copy.has_code());
}

TEST_F(MachineCodeOfMovers, IsNotMadeForLongBlocksHoweverHot) {
  std::vector<std::byte> memory(4 << 20);
  const Layout block = Layout::contiguous(1 << 20);
  const Mover mover = Mover::compile(block, block);
  for (int i = 0; i < 100; ++i) {
    mover(memory.data(), memory.data() + (2 << 20));
  }
  EXPECT_FALSE(mover.has_code());
}

TEST(CodeOfMovers, IsNeverMadeWhereThatIsAskedFor) {
  Buffers buffers;
  const Mover mover = compiled(Code::never);
  for (int i = 0; i < 100; ++i) {
    mover(buffers.source.data(), buffers.destination.data());
  }
  EXPECT_FALSE(mover.has_code());
}

TEST_F(MachineCodeOfMovers, IsMadeOnceByManyThreads) {
  const Mover mover = compiled(Code::when_hot);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      Buffers buffers;
      for (int k = 0; k < 1000; ++k) {
        buffers.destination.assign(480, std::byte{});
        mover(buffers.source.data(), buffers.destination.data());
        ASSERT_EQ(buffers.destination, std::vector<std::byte>(480, std::byte{1}));
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_TRUE(mover.has_code());
}

TEST_F(MachineCodeOfMovers, LiesInNoMemoryThatIsWritableAndExecutable) {
  const Mover mover = compiled(Code::at_once);
  ASSERT_TRUE(mover.has_code());
  std::ifstream maps("/proc/self/maps");
  ASSERT_TRUE(maps);
  for (std::string line; std::getline(maps, line);) {
    EXPECT_EQ(line.find("rwx"), std::string::npos) << line;
    EXPECT_EQ(line.find("-wx"), std::string::npos) << line;
  }
}

TEST_F(MachineCodeOfMovers, ReachesOffsetsBeyondTwoGibibytes) {
  // Of a source that is never touched but at its ends: the pages between are not there.
  constexpr std::int64_t far = std::int64_t{5} << 30;
  std::vector<std::byte> near_and_far(64);
  const std::int64_t from = reinterpret_cast<std::intptr_t>(near_and_far.data()) - far;
  const Layout source = Layout::indexed({{{far, 8}, {far + 24, 8}, {far + 40, 3}}});
  const Mover mover = Mover::compile(source, Layout::contiguous(19), Hint::reuse, Code::at_once);
  ASSERT_TRUE(mover.has_code());
  for (std::size_t i = 0; i < near_and_far.size(); ++i) {
    near_and_far[i] = static_cast<std::byte>(i);
  }
  std::vector<std::byte> packed(19);
  mover(reinterpret_cast<const std::byte*>(from), packed.data());
  EXPECT_EQ(packed[0], std::byte{0});
  EXPECT_EQ(packed[8], std::byte{24});
  EXPECT_EQ(packed[18], std::byte{42});
}

}  // namespace
}  // namespace penstock::mover

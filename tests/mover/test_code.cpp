// Machine code is made when it was asked for or when a mover is hot, and never lies in memory that is writable too.
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <fstream>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "penstock/base/config.hpp"
#include "penstock/mover/mover.hpp"
#include "penstock/mover/trial.hpp"

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

TEST_F(MachineCodeOfMovers, IsTriedByUsesInSeveralStylesThatAllMoveTheSame) {
  constexpr int max_uses = 500;
  const Layout many = Layout::nest(0, {{{400, 112}}}, 40);
  std::vector<std::byte> source(400 * 112);
  for (std::size_t i = 0; i < source.size(); ++i) {
    source[i] = static_cast<std::byte>(i % 251);
  }
  for (const Hint hint : {Hint::reuse, Hint::from_memory}) {
    const Mover mover = Mover::compile(many, Layout::contiguous(many.bytes()), hint, Code::at_once);
    std::vector<std::byte> expected(16000);
    mover.move_part(source.data(), expected.data(), 0, 16000 - 1);
    mover.move_part(source.data(), expected.data(), 16000 - 1, 16000);
    EXPECT_TRUE(mover.is_trying());
    int uses = 0;
    for (; mover.is_trying() && uses < max_uses; ++uses) {
      std::vector<std::byte> moved(16000);
      mover(source.data(), moved.data());
      ASSERT_EQ(moved, expected) << "use " << uses;
    }
    EXPECT_LT(uses, max_uses);
    EXPECT_TRUE(mover.has_code());
  }
}

TEST_F(MachineCodeOfMovers, IsChosenByManyThreadsAtOnce) {
  const Layout many = Layout::nest(0, {{{400, 112}}}, 40);
  const Mover mover = Mover::compile(many, Layout::contiguous(many.bytes()), Hint::from_memory);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      const std::vector<std::byte> source(400 * 112, std::byte{1});
      for (int k = 0; k < 200; ++k) {
        std::vector<std::byte> moved(16000);
        mover(source.data(), moved.data());
        ASSERT_EQ(moved, std::vector<std::byte>(16000, std::byte{1}));
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_TRUE(mover.has_code());
  EXPECT_FALSE(mover.is_trying());
}

#if PENSTOCK_HAS_ASMJIT
TEST_F(MachineCodeOfMovers, IsTheFastestThatUsesTried) {
  // mov ecx, 1000000; dec ecx; jnz to the dec; ret -- and ret alone.
  constexpr std::array<unsigned char, 10> slow{0xb9, 0x40, 0x42, 0x0f, 0x00, 0xff, 0xc9, 0x75, 0xfc, 0xc3};
  constexpr std::array<unsigned char, 1> fast{0xc3};
  for (const bool is_first_slow : {false, true}) {
    const auto slow_code = CodePages::seal(std::as_bytes(std::span(slow)));
    const auto fast_code = CodePages::seal(std::as_bytes(std::span(fast)));
    Trial trial(
        {{Style::ruled, is_first_slow ? slow_code : fast_code}, {Style::plain, is_first_slow ? fast_code : slow_code}});
    const StyledCode* best = nullptr;
    for (int use = 0; best == nullptr && use < 100; ++use) {
      best = trial.run(nullptr, nullptr);
    }
    ASSERT_NE(best, nullptr);
    EXPECT_EQ(best->style, is_first_slow ? Style::plain : Style::ruled);
  }
}
#endif

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

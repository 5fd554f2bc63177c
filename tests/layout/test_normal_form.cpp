// Two layouts are equal exactly when they name the same bytes in the same order, however they were made.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "penstock/layout/layout.hpp"
#include "tests/layout/bytes_of.hpp"

namespace penstock::layout {
namespace {

/// A layout beside the list of its bytes, made by the definition of each constructor.
struct Pair {
  Layout layout;
  Offsets bytes;
};

/// Small numbers on purpose: strides that meet, runs that touch and loops that continue one another are then frequent.
class Maker {
 public:
  explicit Maker(unsigned seed) : random_(seed) {}

  std::int64_t number(std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(random_);
  }

  Pair make(int depth) {
    const std::int64_t choice = depth == 0 ? 0 : number(0, 8);
    if (choice == 0) {
      const std::int64_t bytes = number(0, 20) == 0 ? 0 : number(1, 4);
      return append({}, 0, bytes, Layout::contiguous(bytes));
    }
    if (choice >= 7) {
      return make_sequence(depth);
    }
    Pair part = make(depth - 1);
    if (part.bytes.size() > 2000) {
      return part;
    }
    return choice <= 3 ? make_strided(part) : choice == 4 ? make_displaced(part) : make_indexed(part);
  }

  /// The same bytes as runs cut at random places.
  Layout made_of_runs(const Offsets& bytes) {
    std::vector<layout::Run> runs;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      const bool is_next = i > 0 && bytes[i] == bytes[i - 1] + 1;
      if (is_next && number(0, 3) > 0) {
        ++runs.back().bytes;
      } else {
        runs.push_back({bytes[i], 1});
      }
    }
    return Layout::indexed(runs);
  }

  /// The same bytes as copies of one part that divides them at random, where one does.
  Layout made_of_parts(const Offsets& bytes) {
    const auto size = static_cast<std::int64_t>(bytes.size());
    const std::int64_t copies = number(2, 6);
    if (size == 0 || size % copies != 0) {
      return made_of_runs(bytes);
    }
    const Offsets first(bytes.begin(), bytes.begin() + size / copies);
    Offsets starts;
    Offsets all;
    for (std::int64_t i = 0; i < copies; ++i) {
      starts.push_back(bytes[static_cast<std::size_t>(i * size / copies)] - bytes[0]);
      for (const std::int64_t byte : first) {
        all.push_back(byte + starts.back());
      }
    }
    return all == bytes ? Layout::indexed(starts, made_of_parts(first)) : made_of_runs(bytes);
  }

 private:
  static Pair append(Offsets bytes, std::int64_t offset, std::int64_t count, Layout layout) {
    for (std::int64_t i = 0; i < count; ++i) {
      bytes.push_back(offset + i);
    }
    return {std::move(layout), std::move(bytes)};
  }

  Pair make_strided(const Pair& part) { return make_strided(part, number(0, 20) == 0 ? 0 : number(1, 4)); }

  Pair make_strided(const Pair& part, std::int64_t count) {
    const std::int64_t stride = number(0, 1) == 0 ? number(-12, 24) : static_cast<std::int64_t>(part.bytes.size());
    Pair whole{Layout::strided(count, stride, part.layout), {}};
    for (std::int64_t i = 0; i < count; ++i) {
      for (const std::int64_t byte : part.bytes) {
        whole.bytes.push_back(byte + i * stride);
      }
    }
    return whole;
  }

  Pair make_displaced(Pair part) {
    const std::int64_t distance = number(-9, 9);
    part.layout = part.layout.displaced(distance);
    for (std::int64_t& byte : part.bytes) {
      byte += distance;
    }
    return part;
  }

  Pair make_indexed(const Pair& part) {
    Offsets offsets;
    for (std::int64_t i = number(0, 5); i > 0; --i) {
      offsets.push_back(4 * number(-2, 4));
    }
    Pair whole{Layout::indexed(offsets, part.layout), {}};
    for (const std::int64_t offset : offsets) {
      for (const std::int64_t byte : part.bytes) {
        whole.bytes.push_back(byte + offset);
      }
    }
    return whole;
  }

  /// Now and then parts of so many repetitions that they stay parts.
  Pair make_sequence(int depth) {
    std::vector<Layout> parts;
    Pair whole;
    for (std::int64_t i = number(0, 4); i > 0; --i) {
      Pair part = make(depth - 1);
      if (number(0, 1) == 0 && part.bytes.size() < 100) {
        part = make_strided(part, number(1, 40));
      }
      parts.push_back(part.layout);
      whole.bytes.insert(whole.bytes.end(), part.bytes.begin(), part.bytes.end());
    }
    whole.layout = Layout::sequence(parts);
    return whole;
  }

  std::mt19937 random_;
};

TEST(NormalForm, IsOnePerSequenceOfBytes) {
  const unsigned seed = std::random_device()();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  Maker maker(seed);
  int held_in_parts = 0;
  for (int i = 0; i < 20000; ++i) {
    const Pair pair = maker.make(static_cast<int>(maker.number(1, 5)));
    ASSERT_EQ(bytes_of(pair.layout), pair.bytes) << "layout " << i;
    ASSERT_EQ(pair.layout.bytes(), static_cast<std::int64_t>(pair.bytes.size())) << "layout " << i;
    ASSERT_EQ(maker.made_of_runs(pair.bytes), pair.layout) << "layout " << i;
    ASSERT_EQ(maker.made_of_parts(pair.bytes), pair.layout) << "layout " << i;
    ASSERT_EQ(maker.made_of_runs(pair.bytes).hash(), pair.layout.hash()) << "layout " << i;
    held_in_parts += pair.layout.parts().empty() ? 0 : 1;
  }
  EXPECT_GT(held_in_parts, 100);
}

TEST(NormalForm, HasNoLoopOfOneAndNoTwoLoopsThatAreOne) {
  const Layout layout = Layout::nest(0, {{{1, 999}, {4, 96}, {3, 32}, {1, 7}, {2, 16}}}, 8);
  ASSERT_EQ(layout.levels().size(), 1U);
  EXPECT_EQ(layout.levels()[0], (Level{24, 16}));
}

TEST(NormalForm, FindsTheLoopWhoseTurnLiesInsideARun) {
  // Two bytes, then two at 8; again at 10 and 18: the second turn begins where the first ends.
  const Layout layout = Layout::indexed({{{0, 2}, {8, 4}, {18, 2}}});
  ASSERT_EQ(layout.levels().size(), 2U);
  EXPECT_EQ(layout, Layout::nest(0, {{{2, 10}, {2, 8}}}, 2));
}

TEST(NormalForm, KeepsAListWithoutRegularityInOrder) {
  const Layout layout = Layout::indexed({{{40, 8}, {0, 8}, {100, 4}}});
  EXPECT_TRUE(layout.levels().empty());
  ASSERT_EQ(layout.runs().size(), 3U);
  EXPECT_EQ(layout.runs()[1], (layout::Run{0, 8}));
  EXPECT_NE(layout, Layout::indexed({{{0, 8}, {40, 8}, {100, 4}}}));
}

TEST(NormalForm, OfALongListIsFoundInTimeThatGrowsWithItsLength) {
  std::vector<layout::Run> runs;
  constexpr std::int64_t count = 720720;  // has many divisors
  for (std::int64_t i = 0; i < count; ++i) {
    runs.push_back({i * 64 + (i == count - 1 ? 1 : 0), 16});
  }
  EXPECT_EQ(Layout::indexed(runs).runs().size(), runs.size());
  runs.back().offset -= 1;
  EXPECT_EQ(Layout::indexed(runs), Layout::nest(0, {{{count, 64}}}, 16));
}

}  // namespace
}  // namespace penstock::layout

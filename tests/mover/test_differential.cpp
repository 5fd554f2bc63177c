// Movers between random layouts move what a copy byte by byte moves, with each instruction set and hint.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include "arena.hpp"

namespace penstock::mover {
namespace {

using layout::Layout;
using layout::Level;

class Maker {
 public:
  explicit Maker(unsigned seed) : random(seed) {}

  std::int64_t number(std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(random);
  }

  /// An array of the given extents, in memory with its dimensions in random order, padded and turned at random.
  Layout box(const std::vector<std::int64_t>& extents, std::int64_t element_bytes) {
    std::vector<std::size_t> order(extents.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::shuffle(order, random);
    std::vector<Level> levels(extents.size());
    std::int64_t stride = element_bytes;
    for (const std::size_t i : order) {
      stride += number(0, 2) == 0 ? element_bytes * number(0, 3) : 0;
      levels[i] = {extents[i], number(0, 4) == 0 ? -stride : stride};
      stride *= extents[i];
    }
    return Layout::nest(number(-50, 50), levels, element_bytes);
  }

  std::vector<std::int64_t> extents(std::size_t dimensions, std::int64_t most) {
    std::vector<std::int64_t> result;
    for (std::size_t i = 0; i < dimensions; ++i) {
      result.push_back(number(1, most));
    }
    return result;
  }

  /// Runs of random lengths at random places that do not overlap, in random order.
  Layout scattered(std::int64_t bytes, std::int64_t longest) {
    std::vector<layout::Run> runs;
    for (std::int64_t place = 0; bytes > 0;) {
      const std::int64_t run_bytes = std::min(bytes, number(1, longest));
      runs.push_back({place, run_bytes});
      place += run_bytes + (number(0, 1) == 0 ? number(0, 20) : 0);
      bytes -= run_bytes;
    }
    if (number(0, 1) == 0) {
      std::ranges::shuffle(runs, random);
    }
    return Layout::indexed(runs);
  }

  std::mt19937 random;
};

class Differential : public testing::Test {
 protected:
  const unsigned seed_ = std::random_device()();
  const testing::ScopedTrace trace_{__FILE__, __LINE__, testing::Message() << "seed " << seed_};
  Maker maker_{seed_};
};

constexpr std::int64_t element_sizes[] = {1, 2, 3, 4, 8, 12, 16, 24, 32, 48, 64, 100, 128, 256, 300, 2048};

TEST_F(Differential, BoxesOfAnyElementInAnyOrderOfDimensions) {
  for (int i = 0; i < 1500 && !HasFailure(); ++i) {
    const std::int64_t element = element_sizes[maker_.number(0, std::size(element_sizes) - 1)];
    const auto extents = maker_.extents(static_cast<std::size_t>(maker_.number(0, 4)), element > 64 ? 5 : 9);
    const Layout source = maker_.box(extents, element);
    expect_copies(source, maker_.box(extents, element), maker_.random);
    expect_copies(source, Layout::contiguous(source.bytes()), maker_.random);
    expect_copies(Layout::contiguous(source.bytes()), source, maker_.random);
  }
}

TEST_F(Differential, BoxesOfUnevenSizesThatAreTransposed) {
  for (int i = 0; i < 150 && !HasFailure(); ++i) {
    const std::int64_t element = std::int64_t{4} << maker_.number(0, 2);
    const std::vector<std::int64_t> extents{maker_.number(1, 3), maker_.number(1, 90), maker_.number(1, 90)};
    expect_copies(maker_.box(extents, element), maker_.box(extents, element), maker_.random);
  }
}

TEST_F(Differential, BoxesOfExtentsThatDoNotDivideEachOther) {
  for (int i = 0; i < 1000 && !HasFailure(); ++i) {
    const std::int64_t element = maker_.number(1, 5);
    const auto extents = maker_.extents(3, 7);
    std::vector<std::int64_t> others{extents[1], extents[2], extents[0]};
    expect_copies(maker_.box(extents, element), maker_.box(others, element), maker_.random);
    others = {extents[0] * extents[1] * extents[2], 1};
    expect_copies(maker_.box(others, element), maker_.box(extents, element), maker_.random);
  }
}

TEST_F(Differential, ListsOfRuns) {
  for (int i = 0; i < 1000 && !HasFailure(); ++i) {
    const std::int64_t bytes = maker_.number(1, 2000);
    const std::int64_t longest = std::int64_t{1} << maker_.number(0, 9);
    expect_copies(maker_.scattered(bytes, longest), maker_.scattered(bytes, longest), maker_.random);
    expect_copies(maker_.scattered(bytes, longest), Layout::contiguous(bytes), maker_.random);
  }
}

TEST_F(Differential, LoopsAroundListsOfRuns) {
  for (int i = 0; i < 1000 && !HasFailure(); ++i) {
    const std::int64_t copies = maker_.number(1, 12);
    const Layout from = maker_.scattered(maker_.number(1, 100), 16);
    const Layout to = maker_.number(0, 1) == 0 ? from : maker_.scattered(from.bytes(), 16);
    const std::int64_t spread = to.upper_bound() + maker_.number(0, 9);
    const Layout source = Layout::strided(copies, maker_.number(-9, 99), from);
    expect_copies(source, Layout::strided(copies, spread, to), maker_.random);
    expect_copies(source, Layout::strided(copies, -spread, to), maker_.random);
    expect_copies(source, maker_.box({copies, from.bytes()}, 1), maker_.random);
  }
}

TEST_F(Differential, SmallElementsAFewPlacesApart) {
  for (const std::int64_t element : {1, 2, 4, 8}) {
    for (std::int64_t spread = 2; spread <= 5; ++spread) {
      for (const std::int64_t extent : {64 / element, 64 / element + 1, maker_.number(2, 300), maker_.number(2, 300)}) {
        const Layout row = Layout::nest(0, {{{extent, spread * element}}}, element);
        const Layout rows = Layout::strided(maker_.number(1, 3), row.upper_bound() + maker_.number(0, 9), row);
        expect_copies(rows, Layout::contiguous(rows.bytes()), maker_.random);
        expect_copies(Layout::contiguous(rows.bytes()), rows, maker_.random);
      }
    }
  }
}

TEST_F(Differential, LoopsAroundLongBlocks) {
  for (int i = 0; i < 30 && !HasFailure(); ++i) {
    const std::int64_t block = maker_.number(2000, 20000);
    const Layout two = Layout::indexed({{{0, block}, {block + maker_.number(1, 99), maker_.number(1, 9000)}}});
    const Layout part = maker_.number(0, 1) == 0 ? two : Layout::contiguous(block);
    const Layout layout = Layout::strided(maker_.number(2, 9), part.upper_bound() + maker_.number(1, 99), part);
    expect_copies(layout, Layout::contiguous(layout.bytes()), maker_.random);
    expect_copies(Layout::contiguous(layout.bytes()), layout, maker_.random);
    expect_copies(layout, layout, maker_.random);
  }
}

TEST_F(Differential, SequencesOfNestsAndLists) {
  for (int i = 0; i < 500 && !HasFailure(); ++i) {
    std::vector<Layout> parts;
    std::int64_t place = 0;
    for (std::int64_t count = maker_.number(1, 5); count > 0; --count) {
      const std::int64_t element = element_sizes[maker_.number(0, 7)];
      const Layout part = maker_.number(0, 2) == 0 ? maker_.scattered(element * maker_.number(1, 200), 3 * element)
                                                   : maker_.box(maker_.extents(3, 8), element);
      parts.push_back(part.displaced(place - part.lower_bound()));
      place += part.upper_bound() - part.lower_bound() + maker_.number(0, 3);
    }
    std::ranges::shuffle(parts, maker_.random);
    Layout layout = Layout::sequence(parts);
    if (maker_.number(0, 1) == 0) {
      layout = Layout::strided(maker_.number(1, 4), place + maker_.number(0, 20), layout);
    }
    expect_copies(layout, Layout::contiguous(layout.bytes()), maker_.random);
    expect_copies(Layout::contiguous(layout.bytes()), layout, maker_.random);
    if (i % 8 == 0) {
      expect_copies(layout, layout, maker_.random);
    }
  }
}

TEST_F(Differential, ListsOfEqualBlocks) {
  for (int i = 0; i < 500 && !HasFailure(); ++i) {
    const std::int64_t element = element_sizes[maker_.number(0, 9)];
    std::vector<std::int64_t> offsets;
    for (std::int64_t count = maker_.number(1, 300), place = 0; count > 0; --count) {
      offsets.push_back(place);
      place += element * maker_.number(1, 4);
    }
    std::ranges::shuffle(offsets, maker_.random);
    Layout list = Layout::indexed(offsets, Layout::contiguous(element));
    if (maker_.number(0, 1) == 0) {
      list = Layout::strided(maker_.number(2, 5), list.upper_bound() + maker_.number(0, 99), list);
    }
    expect_copies(list, Layout::contiguous(list.bytes()), maker_.random);
    expect_copies(Layout::contiguous(list.bytes()), list, maker_.random);
  }
}

TEST_F(Differential, NestsTooIrregularForAList) {
  const Layout source = Layout::nest(0, {{{1031, 2100}, {1033, 2}}}, 1);
  const Layout destination = Layout::nest(0, {{{1033, 3}, {1031, 3100}}}, 1);
  const std::string description = expect_copies(source, destination, maker_.random);
  EXPECT_NE(description.find("run by run"), std::string::npos) << description;
}

}  // namespace
}  // namespace penstock::mover

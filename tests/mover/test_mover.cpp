// A mover copies byte k of the source layout to byte k of the destination layout, says how, and refuses misuse.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/mover/mover.hpp"

namespace penstock::mover {
namespace {

using layout::Layout;

std::string described(const Layout& source, const Layout& destination) {
  return Mover::compile(source, destination).describe();
}

TEST(Mover, TransposesASmallMatrix) {
  const std::vector<int> source{1, 2, 3, 4, 5, 6};
  std::vector<int> destination(6);
  const Mover mover = Mover::compile(Layout::nest(0, {{{3, 4}, {2, 12}}}, 4), Layout::contiguous(24));
  mover(reinterpret_cast<const std::byte*>(source.data()), reinterpret_cast<std::byte*>(destination.data()));
  EXPECT_EQ(destination, (std::vector<int>{1, 4, 2, 5, 3, 6}));
}

TEST(Mover, OfNothingMovesNothing) {
  const Mover mover = Mover::compile(Layout(), Layout::contiguous(0));
  mover(nullptr, nullptr);
  Mover()(nullptr, nullptr);
  EXPECT_EQ(mover.bytes(), 0);
  EXPECT_EQ(mover.describe(), "0 bytes");
}

TEST(Mover, SharesWhatWasCompiledWithItsCopies) {
  const std::vector<std::byte> source(8, std::byte{9});
  std::vector<std::byte> destination(8);
  Mover copy;
  {
    const Mover mover = Mover::compile(Layout::contiguous(8), Layout::contiguous(8));
    copy = mover;
  }
  copy(source.data(), destination.data());
  EXPECT_EQ(destination, source);
  EXPECT_EQ(copy.bytes(), 8);
}

TEST(Mover, ReadsAByteOftenWhereTheSourceRepeatsIt) {
  const std::vector<char> source{'a', 'b'};
  std::vector<char> destination(6);
  const Mover mover = Mover::compile(Layout::strided(3, 0, Layout::contiguous(2)), Layout::contiguous(6));
  mover(reinterpret_cast<const std::byte*>(source.data()), reinterpret_cast<std::byte*>(destination.data()));
  EXPECT_EQ(std::string(destination.begin(), destination.end()), "ababab");
}

TEST(Mover, IsOneBlockWhereBothSidesAreContiguousAlikeHoweverNested) {
  const Layout reversed = Layout::nest(960, {{{4, -320}}}, 320);
  EXPECT_NE(described(reversed, reversed).find("rows 1 x 1 of 1280 B"), std::string::npos);
}

TEST(Mover, OfDistinctUnevenExtentsFindsTheirCommonDivisors) {
  const Layout source = Layout::nest(0, {{{100, 64}}}, 24);
  const Layout destination = Layout::nest(0, {{{150, 64}}}, 16);
  EXPECT_NE(described(source, destination).find("50 x list of 4"), std::string::npos) << described(source, destination);
}

TEST(Mover, RefusesLayoutsOfDifferentSizesAndNamesThem) {
  try {
    Mover::compile(Layout::contiguous(8), Layout::contiguous(9));
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("8 bytes"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("9"), std::string::npos);
  }
}

TEST(Mover, RefusesADestinationThatNamesItsBytesTwice) {
  EXPECT_THROW(Mover::compile(Layout::contiguous(8), Layout::strided(2, 0, Layout::contiguous(4))), Error);
}

}  // namespace
}  // namespace penstock::mover

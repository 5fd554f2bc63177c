// A mover copies byte k of the source layout to byte k of the destination layout, and touches nothing else.
#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/mover/mover.hpp"

namespace penstock::mover {
namespace {

using layout::Layout;

TEST(Mover, TransposesASmallMatrix) {
  const std::vector<int> source{1, 2, 3, 4, 5, 6};
  std::vector<int> destination(6);
  const Mover mover = Mover::compile(Layout::nest(0, {{{3, 4}, {2, 12}}}, 4), Layout::contiguous(24));
  mover(reinterpret_cast<const std::byte*>(source.data()), reinterpret_cast<std::byte*>(destination.data()));
  EXPECT_EQ(destination, (std::vector<int>{1, 4, 2, 5, 3, 6}));
}

TEST(Mover, RefusesLayoutsOfDifferentSizes) {
  EXPECT_THROW(Mover::compile(Layout::contiguous(8), Layout::contiguous(9)), Error);
}

}  // namespace
}  // namespace penstock::mover

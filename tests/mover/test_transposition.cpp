// The transpositions of a distributed FFT are found as such and are right for sizes beside the kernels' own.
#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <string>

#include "arena.hpp"

namespace penstock::mover {
namespace {

using layout::Layout;

class Transposition : public testing::TestWithParam<std::int64_t> {
 protected:
  const unsigned seed_ = std::random_device()();
  const testing::ScopedTrace trace_{__FILE__, __LINE__, testing::Message() << "seed " << seed_};
  std::mt19937 random_{seed_};
};

TEST_P(Transposition, ScattersATileInChunks) {
  const std::int64_t element = GetParam();
  for (const std::int64_t w : {1, 3, 4, 15, 16, 17, 32}) {
    for (const std::int64_t n : {1, 5, 64, 127}) {
      for (const std::int64_t spread : {w * element, w * element + element, std::int64_t{1024}}) {
        const Layout tile = Layout::nest(0, {{{n, element}, {w, (n + 4) * element}}}, element);
        const Layout chunks = Layout::nest(0, {{{n, spread}}}, w * element);
        const std::string description = expect_copies(tile, chunks, random_);
        if (w > 1 && n > 1 && spread > w * element) {
          EXPECT_NE(description.find("transpose"), std::string::npos) << description;
        }
      }
    }
  }
}

TEST_P(Transposition, GathersChunksIntoATile) {
  const std::int64_t element = GetParam();
  for (const std::int64_t w : {1, 2, 8, 16, 31}) {
    for (const std::int64_t n : {1, 4, 63, 130}) {
      const Layout chunks = Layout::nest(0, {{{n, 2048}}}, w * element);
      const Layout tile = Layout::nest(0, {{{n, element}, {w, (n + 4) * element}}}, element);
      expect_copies(chunks, tile, random_);
    }
  }
}

TEST_P(Transposition, InterleavesRowsAndTakesThemApart) {
  const std::int64_t element = GetParam();
  for (const std::int64_t w : {2, 3, 4, 5}) {
    for (const std::int64_t n : {2, 7, 16, 33, 130, 1500}) {
      const Layout interleaved = Layout::nest(0, {{{n, w * element}, {w, element}}}, element);
      const Layout rows = Layout::nest(0, {{{n, element}, {w, (n + 3) * element}}}, element);
      expect_copies(rows, interleaved, random_);
      expect_copies(interleaved, rows, random_);
    }
  }
}

TEST_P(Transposition, OfAMatrixLargerThanATileIsRight) {
  const std::int64_t element = GetParam();
  const std::int64_t rows = 2048 / element + 5;
  const std::int64_t columns = 2048 / element + 3;
  const Layout source = Layout::nest(0, {{{columns, element}, {rows, columns * element}}}, element);
  for (const std::int64_t padding : {0, 1, 5}) {
    const Layout destination = Layout::nest(0, {{{columns, (rows + padding) * element}, {rows, element}}}, element);
    EXPECT_NE(expect_copies(source, destination, random_).find("transpose"), std::string::npos);
  }
}

INSTANTIATE_TEST_SUITE_P(OfElements, Transposition, testing::Values(4, 8, 16),
                         [](const auto& instance) { return "Of" + std::to_string(instance.param) + "Bytes"; });

}  // namespace
}  // namespace penstock::mover

// A mover copies byte k of the source layout to byte k of the destination layout, says how, and refuses misuse.
#include <gtest/gtest.h>
#include <sys/mman.h>

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

/// Addresses without memory behind them until they are touched.
class Addresses {
 public:
  explicit Addresses(std::size_t bytes)
      : bytes_(bytes),
        data_(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {}
  ~Addresses() { munmap(data_, bytes_); }
  Addresses(const Addresses&) = delete;
  Addresses& operator=(const Addresses&) = delete;

  bool has_any() const { return data_ != MAP_FAILED; }
  std::byte* data() const { return static_cast<std::byte*>(data_); }

 private:
  std::size_t bytes_;
  void* data_;
};

TEST(Mover, OfListsInArraysFarApartKeepsTheLists) {
  constexpr std::int64_t far = std::int64_t{5} << 30;  // offsets in a list have 32 bits
  const Addresses addresses(static_cast<std::size_t>(2 * far));
  if (!addresses.has_any()) {
    GTEST_SKIP() << "no 10 GiB of addresses";
  }
  std::vector<layout::Run> runs;
  for (std::int64_t i = 0; i < 300; ++i) {
    runs.push_back({(i < 150 ? 0 : far) + i * (i + 2) * 12, 12});
  }
  const Layout list = Layout::indexed(runs);
  const Layout packed = Layout::contiguous(list.bytes());
  for (std::int64_t i = 0; i < 300; ++i) {
    addresses.data()[runs[static_cast<std::size_t>(i)].offset + 5] = static_cast<std::byte>(i);
  }
  for (const Code code : {Code::never, Code::at_once}) {
    const Mover pack = Mover::compile(list, packed, Hint::reuse, code);
    EXPECT_NE(pack.describe().find("(list of 150 x 12 B, list of 150 x 12 B)"), std::string::npos) << pack.describe();
    std::vector<std::byte> message(static_cast<std::size_t>(list.bytes()));
    pack(addresses.data(), message.data());
    for (std::int64_t i = 0; i < 300; ++i) {
      ASSERT_EQ(message[static_cast<std::size_t>(12 * i + 5)], static_cast<std::byte>(i));
      message[static_cast<std::size_t>(12 * i + 5)] = static_cast<std::byte>(i + 7);
    }
    Mover::compile(packed, list, Hint::reuse, code)(message.data(), addresses.data());
    for (std::int64_t i = 0; i < 300; ++i) {
      std::byte& moved = addresses.data()[runs[static_cast<std::size_t>(i)].offset + 5];
      ASSERT_EQ(moved, static_cast<std::byte>(i + 7));
      moved = static_cast<std::byte>(i);
    }
  }
}

TEST(Mover, OfFewRunsFarApartMovesThem) {
  constexpr std::int64_t far = std::int64_t{5} << 30;
  const Addresses addresses(static_cast<std::size_t>(2 * far));
  if (!addresses.has_any()) {
    GTEST_SKIP() << "no 10 GiB of addresses";
  }
  const Layout list = Layout::list({{far, 3}, {0, 2}, {far + 9, 1}});
  for (const std::int64_t at : {std::int64_t{0}, std::int64_t{1}, far, far + 1, far + 2, far + 9}) {
    addresses.data()[at] = static_cast<std::byte>(at % 251 + 1);
  }
  std::vector<std::byte> message(6);
  Mover::compile(list, Layout::contiguous(6))(addresses.data(), message.data());
  const std::vector<std::int64_t> order{far, far + 1, far + 2, 0, 1, far + 9};
  for (std::size_t i = 0; i < order.size(); ++i) {
    EXPECT_EQ(message[i], static_cast<std::byte>(order[i] % 251 + 1));
  }
}

}  // namespace
}  // namespace penstock::mover

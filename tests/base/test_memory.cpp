// Memory is aligned, zeroed, shared where asked, and refused with a message where there is none.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <limits>
#include <utility>

#include "penstock/base/base.hpp"

namespace penstock {
namespace {

TEST(Memory, IsZeroedAndAlignedToAHugePageWhenLarge) {
  const Memory memory(3 * huge_page_bytes + 5);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory.data()) % huge_page_bytes, 0U);
  for (std::size_t i = 0; i < memory.size(); i += 1021) {
    ASSERT_EQ(memory.data()[i], std::byte{0});
  }
}

TEST(Memory, OfNoBytesHoldsNothing) {
  EXPECT_EQ(Memory(0).data(), nullptr);
}

TEST(Memory, MappedTwiceThroughOneDescriptorIsShared) {
  const int fd = memfd_create("test", MFD_CLOEXEC);
  ASSERT_GE(fd, 0);
  ASSERT_EQ(ftruncate(fd, 8192), 0);
  const Memory mine(fd, 8192, true);
  const Memory theirs(fd, 8192, false);
  close(fd);
  mine.data()[5000] = std::byte{42};
  EXPECT_EQ(theirs.data()[5000], std::byte{42});
}

/// Whether the system makes a huge page of a page of ours when it is asked to.
bool gives_huge_pages(const Memory& touched) {
  constexpr int collapse = 25;  // MADV_COLLAPSE, which glibc 2.36 does not know
  return madvise(touched.data(), huge_page_bytes, collapse) == 0;
}

TEST(Memory, LiesInHugePagesWhereTheSystemGivesThem) {
  constexpr std::size_t bytes = 8 * huge_page_bytes + 4096;
  const int fd = memfd_create("test", MFD_CLOEXEC);
  ASSERT_GE(fd, 0);
  ASSERT_EQ(ftruncate(fd, bytes), 0);
  const Memory alone(bytes);
  const Memory shared(fd, bytes, true);
  const Memory peer(fd, bytes, false);
  close(fd);
  const std::size_t alone_bytes = bytes_in_huge_pages(alone.data());
  const std::size_t shared_bytes = bytes_in_huge_pages(shared.data());
  EXPECT_EQ(bytes_in_huge_pages(peer.data()), 0U);  // not touched yet
  for (std::size_t i = 0; i < bytes; i += 4096) {
    ASSERT_EQ(peer.data()[i], std::byte{0});
    peer.data()[i] = std::byte{1};
  }
  EXPECT_EQ(bytes_in_huge_pages(peer.data()), shared_bytes);
  EXPECT_EQ(shared.data()[bytes - 4096], std::byte{1});
  if (!gives_huge_pages(alone) || !gives_huge_pages(shared)) {
    GTEST_SKIP() << "this system gives no huge pages";
  }
  // All of them, but where memory is in pieces.
  EXPECT_GT(alone_bytes, 0U);
  EXPECT_GT(shared_bytes, 0U);
  EXPECT_LE(alone_bytes, 8 * huge_page_bytes);
  EXPECT_LE(shared_bytes, 8 * huge_page_bytes);
}

TEST(Memory, OfLessThanAHugePageHasNone) {
  const Memory memory(5000);
  EXPECT_EQ(bytes_in_huge_pages(memory.data()), 0U);
  EXPECT_EQ(bytes_in_huge_pages(nullptr), 0U);
}

TEST(Memory, MovesItsOwnership) {
  Memory first(100);
  first.data()[0] = std::byte{7};
  const Memory second = std::move(first);
  EXPECT_EQ(second.data()[0], std::byte{7});
  EXPECT_EQ(second.size(), 100U);
}

TEST(Memory, RefusesMoreThanTheMachineHasWithAMessage) {
  EXPECT_THROW(Memory(std::size_t{1} << 60), Error);
  EXPECT_THROW(Memory(std::numeric_limits<std::size_t>::max()), Error);
}

TEST(AvailableMemory, IsMoreThanNothingAndLessThanEverything) {
  EXPECT_GT(available_memory_bytes(), std::uint64_t{1} << 20);
  EXPECT_LT(available_memory_bytes(), std::uint64_t{1} << 60);
}

}  // namespace
}  // namespace penstock

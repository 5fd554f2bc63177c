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

// Memory is aligned, zeroed, shared where asked, and refused with a message where there is none.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <utility>

#include "penstock/base/base.hpp"
#include "penstock/base/control_group.hpp"

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

TEST(AddressRange, ReleasesItsPagesAlone) {
  for (const std::size_t bytes : {std::size_t{1}, 3 * huge_page_bytes + 5}) {
    SCOPED_TRACE(bytes);
    AddressRange range(bytes);
    const std::span<std::byte> kept = range.pages();
    const std::span<std::byte> pages = range.release();
    EXPECT_EQ(pages.data(), kept.data());
    EXPECT_EQ(pages.size(), kept.size());
    EXPECT_TRUE(range.pages().empty());
    range = AddressRange();
    // What is mapped is refused to a mapping that may not replace.
    const auto is_free = [](std::byte* address) {
      const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
      void* const mapped = mmap(address, page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
      if (mapped == MAP_FAILED) {
        return false;
      }
      munmap(mapped, page);
      return mapped == address;
    };
    EXPECT_FALSE(is_free(pages.data()));
    munmap(pages.data(), pages.size());
    EXPECT_TRUE(is_free(pages.data()));
  }
}

TEST(Memory, RefusesMoreThanTheMachineHasWithAMessage) {
  EXPECT_THROW(Memory(std::size_t{1} << 60), Error);
  EXPECT_THROW(Memory{std::numeric_limits<std::size_t>::max()}, Error);
}

TEST(AvailableMemory, IsMoreThanNothingAndLessThanEverything) {
  EXPECT_GT(available_memory_bytes(), std::uint64_t{1} << 20);
  EXPECT_LT(available_memory_bytes(), std::uint64_t{1} << 60);
}

/// A control group below this process's, with a limit; `folder` is empty where the system gives none.
struct LimitedGroup {
  explicit LimitedGroup(std::uint64_t bytes) {
    const MemoryGroups groups = memory_groups();
    const bool is_unified = groups.memory.empty();
    const std::filesystem::path parent = is_unified ? groups.unified : groups.memory;
    const std::filesystem::path made = parent / ("penstock-test-" + std::to_string(getpid()));
    std::error_code error;
    if (parent.empty() || !std::filesystem::create_directory(made, error)) {
      return;
    }
    if (is_unified) {
      std::ofstream(parent / "cgroup.subtree_control") << "+memory";
    }
    std::ofstream limit(made / (is_unified ? "memory.max" : "memory.limit_in_bytes"));
    if (limit << bytes << std::flush) {
      folder = made;
    } else {
      std::filesystem::remove(made, error);
    }
  }
  ~LimitedGroup() {
    std::error_code ignored;
    std::filesystem::remove(folder, ignored);
  }
  LimitedGroup(const LimitedGroup&) = delete;
  LimitedGroup& operator=(const LimitedGroup&) = delete;

  std::filesystem::path folder;
};

TEST(AvailableMemory, IsNoMoreThanThisProcessesGroupHasLeft) {
  constexpr std::uint64_t limit = std::uint64_t{96} << 20;
  const LimitedGroup group(limit);
  if (group.folder.empty()) {
    GTEST_SKIP() << "this process may not make a control group with a limit of memory";
  }
  const pid_t child = fork();
  if (child == 0) {
    if (!(std::ofstream(group.folder / "cgroup.procs") << getpid() << std::flush)) {
      _exit(2);
    }
    const std::uint64_t before = available_memory_bytes();
    const Memory taken(std::size_t{32} << 20);
    const std::uint64_t after = available_memory_bytes();
    _exit(before <= limit && before > limit / 2 && after <= limit - taken.size() ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 2) {
    GTEST_SKIP() << "this process may not enter a control group";
  }
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace penstock

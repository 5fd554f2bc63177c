// Files are read and written at stated places, appear whole or not at all, and failures name the path.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "penstock/base/base.hpp"
#include "tests/fails_with.hpp"
#include "tests/temporary_folder.hpp"

namespace penstock {
namespace {

TEST(File, HoldsWhatWasWrittenAtEachPlace) {
  const TemporaryFolder folder;
  const File file = File::create(folder / "f");
  file.reserve(10);
  file.write(4, std::as_bytes(std::span("abc", 3)));
  EXPECT_EQ(file.size(), 10);
  std::array<char, 5> part = {};
  File::open(folder / "f").read(3, std::as_writable_bytes(std::span(part)));
  EXPECT_EQ(std::string(part.data(), part.size()), std::string("\0abc\0", 5));
}

TEST(File, RefusesToReadPastItsEnd) {
  const TemporaryFolder folder;
  write_text(folder / "f", "twelve bytes");
  std::array<char, 5> part = {};
  const File file = File::open(folder / "f");
  EXPECT_TRUE(fails_with({"5 bytes at byte 10", "ends at byte 12"},
                         [&] { file.read(10, std::as_writable_bytes(std::span(part))); }));
}

TEST(File, NamesWhatIsMissing) {
  const TemporaryFolder folder;
  EXPECT_TRUE(fails_with({folder / "none", "no such file"}, [&] { File::open(folder / "none"); }));
  EXPECT_TRUE(fails_with({"no such file"}, [&] { File::open_for_writing(folder / "none"); }));
  EXPECT_TRUE(fails_with({"folder does not exist"}, [&] { File::create(folder / "none/f"); }));
}

TEST(File, RefusesAFolderAndAPipeWithoutWaiting) {
  const TemporaryFolder folder;
  ASSERT_EQ(mkfifo((folder / "pipe").c_str(), 0600), 0);
  EXPECT_TRUE(fails_with({"not a regular file"}, [&] { File::open(folder / "pipe"); }));
  EXPECT_TRUE(fails_with({"not a regular file"}, [&] { File::open(folder / ""); }));
}

TEST(File, TakesTheRoomItReservesOnTheDisk) {
  const TemporaryFolder folder;
  constexpr std::int64_t bytes = 1 << 20;
  const int probe = open((folder / "probe").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  const bool can_reserve = fallocate(probe, 0, 0, bytes) == 0;
  close(probe);
  if (!can_reserve) {
    GTEST_SKIP() << "this file system cannot reserve";
  }
  File::create(folder / "f").reserve(bytes);
  struct stat status = {};
  ASSERT_EQ(stat((folder / "f").c_str(), &status), 0);
  EXPECT_GE(status.st_blocks * 512, bytes);
}

/// Of the first `bytes` bytes of a file, the pages that the page cache has.
std::vector<bool> pages_in_cache(const File& file, std::size_t bytes) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  void* const mapped = mmap(nullptr, bytes, PROT_READ, MAP_SHARED, file.descriptor(), 0);
  std::vector<unsigned char> states(bytes / page);
  EXPECT_EQ(mincore(mapped, bytes, states.data()), 0);
  munmap(mapped, bytes);
  std::vector<bool> found;
  for (const unsigned char state : states) {
    found.push_back((state & 1) != 0);
  }
  return found;
}

TEST(File, ReadAheadComesToThePageCache) {
  const TemporaryFolder folder;
  constexpr std::size_t bytes = std::size_t{1} << 20;
  const File file = File::create(folder / "f");
  file.write(0, std::vector<std::byte>(bytes));
  file.sync();
  file.drop_from_cache();
  const std::size_t pages = pages_in_cache(file, bytes).size();
  if (const auto found = pages_in_cache(file, bytes); std::ranges::count(found, true) > 0) {
    GTEST_SKIP() << "this file system keeps what it has in memory";
  }
  file.read_ahead(bytes / 2, bytes / 4);
  const auto has_come = [&] {
    const auto found = pages_in_cache(file, bytes);
    return std::all_of(found.begin() + static_cast<std::ptrdiff_t>(pages / 2),
                       found.begin() + static_cast<std::ptrdiff_t>(pages * 3 / 4),
                       [](bool is_there) { return is_there; });
  };
  for (int tries = 0; !has_come() && tries < 5000; ++tries) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_TRUE(has_come());
  EXPECT_FALSE(pages_in_cache(file, bytes).front());
}

TEST(File, TellsWhetherItPassesByThePageCache) {
  const TemporaryFolder folder;
  EXPECT_FALSE(File::create(folder / "f").passes_by_cache());
  const int probe = open((folder / "f").c_str(), O_RDONLY | O_CLOEXEC | O_DIRECT);
  EXPECT_EQ(File::open_direct(folder / "f").passes_by_cache(), probe >= 0);
  close(probe);
}

TEST(File, RefusesToReserveMoreThanTheDiskHas) {
  const TemporaryFolder folder;
  const File file = File::create(folder / "f");
  EXPECT_TRUE(fails_with({"1.00 EiB"}, [&] { file.reserve(std::int64_t{1} << 60); }));
}

}  // namespace
}  // namespace penstock

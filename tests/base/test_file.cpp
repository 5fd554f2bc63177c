// Files are read and written at stated places, appear whole or not at all, and failures name the path.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <utility>

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

TEST(File, RefusesToReserveMoreThanTheDiskHas) {
  const TemporaryFolder folder;
  const File file = File::create(folder / "f");
  EXPECT_TRUE(fails_with({"1.00 EiB"}, [&] { file.reserve(std::int64_t{1} << 60); }));
}

TEST(Draft, AppearsOnlyWhenCommitted) {
  const TemporaryFolder folder;
  write_text(folder / "f", "old");
  Draft draft(folder / "f");
  draft.file().write(0, std::as_bytes(std::span("new", 3)));
  EXPECT_EQ(read_text(folder / "f"), "old");
  draft.commit();
  EXPECT_EQ(read_text(folder / "f"), "new");
  EXPECT_FALSE(std::filesystem::exists(Draft::part_path(folder / "f")));
}

TEST(Draft, NeverCommittedLeavesNothingAndMovesItsOwnership) {
  const TemporaryFolder folder;
  {
    Draft first(folder / "f");
    const Draft second = std::move(first);
    EXPECT_TRUE(std::filesystem::exists(Draft::part_path(folder / "f")));
  }
  EXPECT_FALSE(std::filesystem::exists(Draft::part_path(folder / "f")));
  EXPECT_FALSE(std::filesystem::exists(folder / "f"));
}

TEST(Draft, RefusesATargetThatIsNoFile) {
  const TemporaryFolder folder;
  EXPECT_TRUE(fails_with({"not a regular file"}, [&] { Draft draft(folder / ""); }));
  EXPECT_TRUE(fails_with({"not a regular file"}, [&] { Draft draft("/dev/null"); }));
}

TEST(WriteText, KeepsEveryByte) {
  const TemporaryFolder folder;
  const std::string text("line\n\0end", 9);
  write_text(folder / "f", text);
  EXPECT_EQ(read_text(folder / "f"), text);
  write_text(folder / "f", "");
  EXPECT_EQ(read_text(folder / "f"), "");
}

}  // namespace
}  // namespace penstock

// Drafts appear whole or not at all, one at a time, where links lead.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "penstock/base/base.hpp"
#include "tests/fails_with.hpp"
#include "tests/temporary_folder.hpp"

namespace penstock {
namespace {

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
  EXPECT_TRUE(fails_with({"not a regular file"}, [&] { Draft draft("/dev/stdout"); }));
}

TEST(WriteText, KeepsEveryByte) {
  const TemporaryFolder folder;
  const std::string text("line\n\0end", 9);
  write_text(folder / "f", text);
  EXPECT_EQ(read_text(folder / "f"), text);
  write_text(folder / "f", "");
  EXPECT_EQ(read_text(folder / "f"), "");
}

TEST(Draft, OfAPathThereIsOneAtATime) {
  const TemporaryFolder folder;
  {
    const Draft first(folder / "f");
    EXPECT_THROW(Draft(folder / "f"), FileIsBusy);
    EXPECT_FALSE(File::open_locked(Draft::part_path(folder / "f")));
  }
  Draft second(folder / "f");
  second.commit();
  const Draft third(folder / "f");
}

TEST(Draft, WritesAnewWhatAKilledProcessHasLeft) {
  const TemporaryFolder folder;
  write_text(Draft::part_path(folder / "f"), "half of a longer one");
  write_text(folder / "f", "new");
  EXPECT_EQ(read_text(folder / "f"), "new");
}

TEST(Draft, FollowsLinksAlsoToWhatIsNotThereYet) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "there");
  std::filesystem::create_symlink("there/f", folder / "link");
  std::filesystem::create_symlink("link", folder / "second");
  for (const char* text : {"new", "newer"}) {
    write_text(folder / "second", text);
    EXPECT_TRUE(std::filesystem::is_symlink(folder / "second"));
    EXPECT_TRUE(std::filesystem::is_symlink(folder / "link"));
    EXPECT_EQ(read_text(folder / "there/f"), text);
  }
  std::filesystem::create_symlink("round", folder / "round");
  EXPECT_TRUE(fails_with({"never end"}, [&] { Draft draft(folder / "round"); }));
}

TEST(Draft, TouchesNothingThatALinkInItsOwnPlaceNames) {
  const TemporaryFolder folder;
  write_text(folder / "precious", "kept");
  std::filesystem::create_symlink("precious", folder / "f.part");
  EXPECT_THROW(Draft(folder / "f"), Error);
  EXPECT_EQ(read_text(folder / "precious"), "kept");
}

TEST(Draft, KeepsThePermissionsOfWhatItReplaces) {
  const TemporaryFolder folder;
  write_text(folder / "f", "secret");
  ASSERT_EQ(chmod((folder / "f").c_str(), 0600), 0);
  write_text(folder / "f", "also secret");
  struct stat status = {};
  ASSERT_EQ(stat((folder / "f").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600);
}

TEST(Draft, LeavesAloneWhatAnInterruptedRunGoesOnWith) {
  const TemporaryFolder folder;
  write_text(folder / "f.journal", "begun");
  write_text(folder / "f.part", "half");
  EXPECT_TRUE(fails_with({"can be resumed", "f.journal", "f.part"}, [&] { Draft draft(folder / "f"); }));
  EXPECT_EQ(read_text(folder / "f.part"), "half");
}

TEST(WriteText, GoesToAPipeAsItIs) {
  const TemporaryFolder folder;
  ASSERT_EQ(mkfifo((folder / "pipe").c_str(), 0600), 0);
  const int end = open((folder / "pipe").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  write_text(folder / "pipe", "text");
  std::array<char, 8> text = {};
  EXPECT_EQ(read(end, text.data(), text.size()), 4);
  close(end);
  EXPECT_EQ(std::string(text.data()), "text");
  EXPECT_TRUE(std::filesystem::is_fifo(folder / "pipe"));
}

}  // namespace
}  // namespace penstock

// A journal believes its lines up to the first that is not whole.
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <span>
#include <string>

#include "penstock/journal/journal.hpp"
#include "tests/fails_with.hpp"
#include "tests/temporary_folder.hpp"

namespace penstock::journal {
namespace {

TEST(Journal, KnowsAfterwardsWhatItWasTold) {
  const TemporaryFolder folder(TemporaryFolder::in_memory());
  {
    Journal journal(folder / "j");
    EXPECT_FALSE(journal.has_begun());
    journal.begin({{"product", "2 x 3"}, {"a", "some file"}});
    journal.add("tile", 1, std::array<std::uint64_t, 2>{77, ~std::uint64_t{0}});
    journal.add("column", 1, std::array<std::uint64_t, 2>{5, 6});
    journal.forget("column", 2);
  }
  {
    Journal journal(folder / "j");
    EXPECT_TRUE(journal.has_begun());
    EXPECT_FALSE(journal.is_complete());
    EXPECT_EQ(journal.fact("product"), "2 x 3");
    EXPECT_EQ(journal.fact("b"), "");
    EXPECT_EQ(journal.pieces("tile"), (Journal::Pieces{{1, 77}, {2, ~std::uint64_t{0}}}));
    EXPECT_EQ(journal.pieces("column"), (Journal::Pieces{{1, 5}}));
    EXPECT_TRUE(journal.pieces("row").empty());
    journal.complete();
  }
  EXPECT_TRUE(Journal(folder / "j").is_complete());
}

TEST(Journal, BelievesNothingFromATornLineOn) {
  const TemporaryFolder folder(TemporaryFolder::in_memory());
  {
    Journal journal(folder / "j");
    journal.begin({{"product", "2 x 3"}});
    journal.add("tile", 0, std::array<std::uint64_t, 2>{5, 6});
  }
  const auto write = [&](const std::string& text) {
    File::create(folder / "j").write(0, std::as_bytes(std::span(text)));
  };
  const std::string whole = read_text(folder / "j");
  std::size_t most = 0;
  for (std::size_t length = 0; length <= whole.size(); ++length) {
    write(whole.substr(0, length));
    const Journal journal(folder / "j");
    most = std::max(most, journal.pieces("tile").size());
    for (const auto& [tile, found] : journal.pieces("tile")) {
      EXPECT_EQ(found, tile == 0 ? 5 : 6);
    }
    EXPECT_TRUE(journal.has_begun() || journal.pieces("tile").empty());
  }
  EXPECT_EQ(most, 2);
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 1);
    write(damaged);
    const Journal journal(folder / "j");
    for (const auto& [tile, found] : journal.pieces("tile")) {
      EXPECT_EQ(found, tile == 0 ? 5 : 6);
    }
  }
}

TEST(Journal, BelongsToOneProcessAtATime) {
  const TemporaryFolder folder(TemporaryFolder::in_memory());
  const Journal journal(folder / "j");
  EXPECT_TRUE(fails_with({"another process"}, [&] { const Journal other(folder / "j"); }));
}

// Else the next run that writes the file in one go would be told to resume what was never begun.
TEST(ResumableFile, LeavesNothingWhereAnotherRunWritesTheFile) {
  const TemporaryFolder folder(TemporaryFolder::in_memory());
  {
    const Draft another(folder / "k");
    ResumableFile file(folder / "k", "product");
    EXPECT_EQ(file.find({}), ResumeState::anew);
    EXPECT_TRUE(fails_with({"another process writes"}, [&] { file.open(ResumeState::anew, {}, "", "header", 8); }));
  }
  EXPECT_TRUE(std::filesystem::is_empty(std::string(folder / "")));
}

}  // namespace
}  // namespace penstock::journal

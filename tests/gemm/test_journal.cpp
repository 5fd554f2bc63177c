// A journal believes its lines up to the first that is not whole.
#include <gtest/gtest.h>

#include <span>
#include <string>
#include <string_view>

#include "penstock/base/checksum.hpp"
#include "penstock/gemm/journal.hpp"
#include "tests/fails_with.hpp"
#include "tests/temporary_folder.hpp"

namespace penstock::gemm {
namespace {

std::uint64_t sum(std::string_view text) {
  return checksum(std::as_bytes(std::span(text)));
}

TEST(Journal, KnowsAfterwardsWhatItWasTold) {
  const TemporaryFolder folder(TemporaryFolder::in_memory());
  {
    Journal journal(folder / "j");
    EXPECT_FALSE(journal.has_begun());
    journal.begin({{"product", "2 x 3"}, {"a", "some file"}});
    journal.add_tile({0, 1}, 77);
    journal.add_tile({2, 0}, ~std::uint64_t{0});
  }
  {
    Journal journal(folder / "j");
    EXPECT_TRUE(journal.has_begun());
    EXPECT_FALSE(journal.is_complete());
    EXPECT_EQ(journal.fact("product"), "2 x 3");
    EXPECT_EQ(journal.fact("b"), "");
    EXPECT_EQ(journal.tiles().size(), 2);
    EXPECT_EQ(journal.tiles().at({2, 0}), ~std::uint64_t{0});
    journal.complete();
  }
  EXPECT_TRUE(Journal(folder / "j").is_complete());
}

TEST(Journal, BelievesNothingFromATornLineOn) {
  const TemporaryFolder folder(TemporaryFolder::in_memory());
  {
    Journal journal(folder / "j");
    journal.begin({{"product", "2 x 3"}});
    journal.add_tile({0, 0}, 5);
    journal.add_tile({0, 1}, 6);
  }
  const auto write = [&](const std::string& text) {
    File::create(folder / "j").write(0, std::as_bytes(std::span(text)));
  };
  const std::string whole = read_text(folder / "j");
  std::size_t most = 0;
  for (std::size_t length = 0; length <= whole.size(); ++length) {
    write(whole.substr(0, length));
    const Journal journal(folder / "j");
    most = std::max(most, journal.tiles().size());
    for (const auto& [tile, found] : journal.tiles()) {
      EXPECT_EQ(found, tile.second == 0 ? 5 : 6);
    }
    EXPECT_TRUE(journal.has_begun() || journal.tiles().empty());
  }
  EXPECT_EQ(most, 2);
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 1);
    write(damaged);
    const Journal journal(folder / "j");
    for (const auto& [tile, found] : journal.tiles()) {
      EXPECT_EQ(found, tile.second == 0 ? 5 : 6);
    }
  }
}

TEST(Journal, BelongsToOneProcessAtATime) {
  const TemporaryFolder folder(TemporaryFolder::in_memory());
  const Journal journal(folder / "j");
  EXPECT_TRUE(fails_with({"another process"}, [&] { const Journal other(folder / "j"); }));
}

}  // namespace
}  // namespace penstock::gemm

// What is put arrives whole with its signal, wherever it goes, and what does not fit is refused.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <vector>

#include "penstock/base/base.hpp"
#include "tests/worlds.hpp"

namespace penstock::gas {
namespace {

std::size_t index(int rank) {
  return static_cast<std::size_t>(rank);
}

TEST(Segment, IsZeroedAndSeenByLocalPeers) {
  on_worlds({1, 2, 4}, [](Team& team) {
    const Segment segment(team, 100, 1);
    ASSERT_EQ(segment.local().size(), 100U);
    for (const std::byte value : segment.local()) {
      ASSERT_EQ(value, std::byte{0});
    }
    team.barrier();
    segment.local()[7] = static_cast<std::byte>(team.rank() + 1);
    team.barrier();
    for (int peer = 0; peer < team.size(); ++peer) {
      if (team.is_local(peer)) {
        EXPECT_EQ(segment.address_at(peer)[7], static_cast<std::byte>(peer + 1));
      } else {
        EXPECT_EQ(segment.address_at(peer), nullptr);
      }
    }
    team.barrier();
  });
}

TEST(Segment, LiesInHugePagesAsMemoryDoes) {
  on_worlds({1, 2}, [](Team& team) {
    constexpr std::size_t bytes = 4 * huge_page_bytes;
    const Segment large(team, bytes, 1);
    const Segment small(team, 100, 1);
    const Segment none(team, 0, 0);
    const int fd = memfd_create("test", MFD_CLOEXEC);
    ASSERT_EQ(ftruncate(fd, bytes), 0);
    const Memory memory = team.transport_name() == "threads" ? Memory(bytes) : Memory(fd, bytes, true);
    close(fd);
    const bool gives_huge_pages = bytes_in_huge_pages(memory.data()) > 0;
    EXPECT_EQ(large.bytes_in_huge_pages() > 0, gives_huge_pages);
    EXPECT_EQ(small.bytes_in_huge_pages(), 0U);
    EXPECT_EQ(none.bytes_in_huge_pages(), 0U);
    team.barrier();
  });
}

// Every rank puts to every rank at once, small and large (beyond MPI's eager limits): no deadlock, no mixed-up data.
TEST(Segment, PutsArriveWholeWithTheirSignal) {
  on_worlds({1, 2, 3, 7}, [](Team& team) {
    for (const std::size_t bytes : {std::size_t{1}, std::size_t{1000}, std::size_t{300'000}}) {
      const auto ranks = index(team.size());
      Segment segment(team, ranks * bytes, ranks);
      for (int round = 1; round <= 3; ++round) {
        for (int i = 1; i <= team.size(); ++i) {
          const int peer = (team.rank() + i) % team.size();
          const std::vector<std::byte> data(bytes, static_cast<std::byte>(16 * round + team.rank()));
          segment.put_signal(Pointer<>{peer, index(team.rank()) * bytes}, data, index(team.rank()));
        }
        for (int source = 0; source < team.size(); ++source) {
          segment.wait(index(source), static_cast<std::uint64_t>(round));
          const auto part = segment.local().subspan(index(source) * bytes, bytes);
          for (const std::byte value : part) {
            ASSERT_EQ(value, static_cast<std::byte>(16 * round + source));
          }
        }
        team.barrier();
      }
    }
  });
}

TEST(Segment, SignalsCountWithoutData) {
  on_worlds({1, 3}, [](Team& team) {
    Segment segment(team, 0, 2);
    for (int peer = 0; peer < team.size(); ++peer) {
      segment.notify(peer, 1);
      segment.notify(peer, 1);
    }
    segment.wait(1, 2 * static_cast<std::uint64_t>(team.size()));
    EXPECT_EQ(segment.value(1), 2 * static_cast<std::uint64_t>(team.size()));
    EXPECT_EQ(segment.value(0), 0U);
    team.barrier();
  });
}

TEST(Segment, MayDifferInSizeBetweenRanks) {
  on_worlds({1, 2, 4}, [](Team& team) {
    Segment segment(team, team.rank() == 0 ? 64 : 0, 1);
    const std::vector<std::byte> data(8, std::byte{3});
    if (team.rank() == team.size() - 1) {
      segment.put_signal(Pointer<>{0, 56}, data, 0);
    }
    if (team.rank() == 0) {
      segment.wait(0, 1);
      EXPECT_EQ(segment.local()[63], std::byte{3});
    } else {
      EXPECT_TRUE(segment.local().empty());
      EXPECT_THROW(segment.put_signal(Pointer<>{team.rank(), 0}, data, 0), Error);
    }
    team.barrier();
  });
}

TEST(Segment, RefusesPutsThatDoNotFitAndSizesThatCannotBe) {
  on_worlds({1, 2}, [](Team& team) {
    Segment segment(team, 16, 1);
    const std::vector<std::byte> data(8);
    EXPECT_THROW(segment.put_signal(Pointer<>{0, 9}, data, 0), Error);
    EXPECT_THROW(segment.put_signal(Pointer<>{0, ~std::size_t{0}}, data, 0), Error);
    EXPECT_THROW(segment.put_signal(Pointer<>{0, 0}, data, 1), Error);
    EXPECT_THROW(Segment(team, team.rank() == 0 ? ~std::size_t{0} : 8, 1), Error);  // one rank's mistake is everyone's
    EXPECT_THROW(Segment(team, std::size_t{1} << 55, 1), Error);                    // more than any machine has
    team.barrier();
  });
}

}  // namespace
}  // namespace penstock::gas

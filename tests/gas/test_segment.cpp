// What is put arrives whole with its signal, wherever it goes, and what does not fit is refused.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <sstream>
#include <string>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/gas/core/rank_index.hpp"
#include "tests/fails_with.hpp"
#include "tests/worlds.hpp"

namespace penstock::gas {
namespace {

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
    const Memory memory = team.transport().name == "threads" ? Memory(bytes) : Memory(fd, bytes, true);
    close(fd);
    if (bytes_in_huge_pages(memory.data()) > 0) {  // else the system has run out of them, or gives none
      EXPECT_GT(large.bytes_in_huge_pages(), 0U);
    }
    EXPECT_EQ(small.bytes_in_huge_pages(), 0U);
    EXPECT_EQ(none.bytes_in_huge_pages(), 0U);
    team.barrier();
  });
}

#if PENSTOCK_HAS_MPI
// MPI sends long messages only while the receiver is in one of its calls, and the receiver waits for what comes after.
TEST(Segment, WaitsLetTheProgramsOwnMessagesGoOn) {
  on_worlds({2}, [](Team& team) {
    int has_mpi = 0;
    MPI_Initialized(&has_mpi);
    Segment segment(team, 8, 1);
    std::vector<char> message(std::size_t{16} << 20);
    const auto bytes = static_cast<int>(message.size());
    if (has_mpi != 0 && team.size() > 1) {
      if (team.rank() == 0) {
        std::ranges::fill(message, 'x');
        MPI_Send(message.data(), bytes, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
        segment.notify(1, 0);
      } else if (team.rank() == 1) {
        MPI_Request request = MPI_REQUEST_NULL;
        MPI_Irecv(message.data(), bytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD, &request);
        segment.wait(0, 1);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        EXPECT_EQ(std::ranges::count(message, 'x'), bytes);
      }
    }
    team.barrier();
  });
}
#endif

// Every rank puts to every rank at once, small and large (beyond MPI's eager limits): no deadlock, no mixed-up data.
TEST(Segment, PutsArriveWholeWithTheirSignal) {
  on_worlds({1, 2, 3, 7}, [](Team& team) {
    for (const std::size_t bytes : {std::size_t{1}, std::size_t{1000}, std::size_t{300'000}}) {
      const auto ranks = index(team.size());
      Segment segment(team, ranks * bytes, ranks);
      for (int round = 1; round <= 4; ++round) {
        for (int i = 1; i <= team.size(); ++i) {
          const int peer = (team.rank() + i) % team.size();
          const std::vector<std::byte> data(bytes, static_cast<std::byte>(16 * round + team.rank()));
          const Pointer<> there{peer, index(team.rank()) * bytes};
          if (round % 2 == 1) {
            segment.put_signal(there, data, index(team.rank()));
          } else {
            segment.put_set(there, data, index(team.rank()), static_cast<std::uint64_t>(round));
          }
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

TEST(Segment, SignalsAreSetWithoutData) {
  on_worlds({1, 3}, [](Team& team) {
    const auto ranks = index(team.size());
    Segment segment(team, 0, ranks);
    for (const std::uint64_t value : {7, 1'000'000}) {
      for (int peer = 0; peer < team.size(); ++peer) {
        segment.set(peer, index(team.rank()), value);
      }
      for (std::size_t source = 0; source < ranks; ++source) {
        segment.wait(source, value);
        EXPECT_EQ(segment.value(source), value);
      }
      team.barrier();
    }
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

TEST(Segment, RefusesSignalsOfItsOwnThatAreNotThere) {
  on_worlds({1, 2}, [](Team& team) {
    const Segment segment(team, 16, 1);
    EXPECT_TRUE(fails_with({"signal 1 ", "1 signals"}, [&] { segment.value(1); }));
    EXPECT_THROW(segment.test(1, 0), Error);
    EXPECT_THROW(segment.wait(1, 0), Error);
    EXPECT_THROW(segment.wait_any(std::vector<std::uint64_t>{1, 1}), Error);
    EXPECT_THROW(segment.wait_any({}), Error);
    EXPECT_THROW(wait_any(std::span<Event>()), Error);
    team.barrier();
  });
}

std::string text_of(const void* address) {
  std::ostringstream text;
  text << address;
  return text.str();
}

// What does not fit is refused by name: where the bytes are here, and where they would be there.
TEST(Segment, TellsBothAddressesOfWhatDoesNotFit) {
  on_worlds({1, 2, 3}, [](Team& team) {
    Segment segment(team, 64, 1);
    const auto parts = team.all_gather(segment.local().data());
    std::vector<std::byte> data(100);
    const std::string here = text_of(data.data());
    for (int peer = 0; peer < team.size(); ++peer) {
      const std::byte* part = parts[index(peer)];
      const std::string rank = "of rank " + std::to_string(peer) + " ";
      const std::string begin = text_of(part);
      const std::string end = text_of(part + 64);
      const auto tells = [&](std::size_t offset, std::size_t bytes, const auto& call) {
        EXPECT_TRUE(fails_with({" of " + std::to_string(bytes) + " bytes ", rank, begin, end, text_of(part + offset),
                                text_of(part + offset + bytes), "offset " + std::to_string(offset)},
                               call));
        EXPECT_TRUE(fails_with({here}, call));
      };
      const Pointer<> at{peer, 60};
      const std::span<std::byte> five(data.data(), 5);
      tells(60, 5, [&] { segment.put(at, five); });
      tells(60, 5, [&] { static_cast<void>(segment.start_put_signal(at, five, 0)); });
      tells(60, 5, [&] { segment.get(at, five); });
      const layout::Layout column = layout::Layout::strided(2, 8, layout::Layout::contiguous(4));
      EXPECT_TRUE(fails_with({"a put of 8 bytes", rank, here, text_of(part + 60), text_of(part + 72)},
                             [&] { static_cast<void>(segment.start_put(at, column, data.data(), column)); }));
      EXPECT_TRUE(fails_with({"a get of 8 bytes", rank, here, text_of(part - 6), text_of(part + 6), "offset 2)"}, [&] {
        const Pointer<> second{peer, 2};
        static_cast<void>(segment.start_get(second, column.displaced(-8), data.data(), column));
      }));
      EXPECT_TRUE(fails_with({"a get of 8 bytes", rank, text_of(part + 100)}, [&] {
        static_cast<void>(segment.start_get({peer, 100}, column, data.data(), column));
      }));
      EXPECT_TRUE(fails_with({"an atomic operation of 8 bytes", rank, text_of(part + 64), end}, [&] {
        segment.fetch_add(Pointer<std::uint64_t>{peer, 64}, 1);
      }));
    }
    for (const int nobody : {-1, team.size()}) {
      EXPECT_TRUE(fails_with({"a put names rank " + std::to_string(nobody)}, [&] {
        segment.put(Pointer<>{nobody, 0}, {data.data(), 1});
      }));
      EXPECT_TRUE(fails_with({"rank " + std::to_string(nobody)}, [&] { segment.bytes_of(nobody); }));
      EXPECT_TRUE(fails_with({"rank " + std::to_string(nobody)}, [&] { segment.address_at(nobody); }));
    }
    team.barrier();
    EXPECT_TRUE(std::ranges::all_of(segment.local(), [](std::byte byte) { return byte == std::byte{0}; }));
    EXPECT_EQ(segment.value(0), 0U);
    team.barrier();
  });
}

}  // namespace
}  // namespace penstock::gas

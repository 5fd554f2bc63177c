// Puts, gets and atomic operations do what they say, on every transport, and say when it is done.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/gas/core/rank_index.hpp"
#include "penstock/layout/layout.hpp"
#include "tests/worlds.hpp"

namespace penstock::gas {
namespace {

using layout::Layout;

// Sizes beside those at which messages change their way: copied with their header, sent alone, of many pages.
constexpr std::size_t sizes[] = {0, 1, 8, 100, 4095, 4096, 4097, 100'000};

TEST(OneSided, APutIsThereWhenItIsDone) {
  on_worlds({1, 2, 3, 7}, [](Team& team) {
    for (const std::size_t bytes : sizes) {
      Segment segment(team, bytes * index(team.size()), 0);
      for (int peer = 0; peer < team.size(); ++peer) {
        const std::vector<std::byte> data(bytes, static_cast<std::byte>(team.rank() + 1));
        segment.put(Pointer<>{peer, index(team.rank()) * bytes}, data);
      }
      team.barrier();
      for (std::size_t i = 0; i < segment.local().size(); ++i) {
        ASSERT_EQ(segment.local()[i], static_cast<std::byte>(i / bytes + 1));
      }
      team.barrier();
    }
  });
}

TEST(OneSided, ManyPutsMayBeUnderWayAtOnce) {
  on_worlds({1, 2, 4}, [](Team& team) {
    constexpr std::size_t count = 300;
    for (const std::size_t each : {std::size_t{3}, std::size_t{5000}}) {
      Segment segment(team, index(team.size()) * count * each, 0);
      std::vector<std::vector<std::byte>> data;
      std::vector<Event> events;
      for (std::size_t i = 0; i < count; ++i) {
        for (int peer = 0; peer < team.size(); ++peer) {
          data.emplace_back(each, static_cast<std::byte>(i + index(team.rank())));
          Put put = segment.start_put(Pointer<>{peer, (index(team.rank()) * count + i) * each}, data.back());
          events.push_back(put.source);
          events.push_back(put.remote);
        }
      }
      wait_all(events);
      team.barrier();
      for (std::size_t i = 0; i < segment.local().size(); ++i) {
        const std::size_t message = i / each;
        ASSERT_EQ(segment.local()[i], static_cast<std::byte>(message % count + message / count));
      }
      team.barrier();
    }
  });
}

TEST(OneSided, AGetBringsWhatIsThere) {
  on_worlds({1, 2, 3, 7}, [](Team& team) {
    for (const std::size_t bytes : sizes) {
      Segment segment(team, bytes + 1, 0);
      for (std::size_t i = 0; i < bytes; ++i) {
        segment.local()[i + 1] = static_cast<std::byte>(i * 7 + index(team.rank()));
      }
      team.barrier();
      std::vector<std::vector<std::byte>> data(index(team.size()), std::vector<std::byte>(bytes));
      std::vector<Event> events;
      for (int peer = 0; peer < team.size(); ++peer) {
        events.push_back(segment.start_get(Pointer<>{peer, 1}, data[index(peer)]));
      }
      while (!events.empty()) {
        const std::size_t done = wait_any(events);
        ASSERT_TRUE(events[done].test());
        events.erase(events.begin() + static_cast<std::ptrdiff_t>(done));
      }
      for (std::size_t peer = 0; peer < data.size(); ++peer) {
        for (std::size_t i = 0; i < bytes; ++i) {
          ASSERT_EQ(data[peer][i], static_cast<std::byte>(i * 7 + peer));
        }
      }
      team.barrier();
    }
  });
}

// Pieces that a network puts one by one, such as are packed first, and such as remain a message.
TEST(OneSided, LayoutsArePutAndReadByteByByte) {
  constexpr std::int64_t count = 6;
  on_worlds({1, 2, 3}, [](Team& team) {
    for (const std::int64_t run : {64, 5000, 40'000}) {
      const auto spread = [&](std::int64_t length, std::int64_t stride) {
        return Layout::strided(count * run / length, stride, Layout::contiguous(length));
      };
      const Layout remote = spread(run, 2 * run);
      const auto span = static_cast<std::size_t>(2 * count * run);
      std::uint64_t rounds = 0;
      Segment segment(team, span, 1);
      for (const Layout& local :
           {spread(run, 2 * run), Layout::contiguous(count * run), spread(8, 16), spread(run, run + 8)}) {
        const int peer = (team.rank() + 1) % team.size();
        std::ranges::fill(segment.local(), std::byte{255});
        team.barrier();
        std::vector<std::byte> data(span), back(span);
        for (std::size_t i = 0; i < span; ++i) {
          data[i] = static_cast<std::byte>((i * 31 + i / 251 + index(team.rank())) % 255);
        }
        Put put = segment.start_put_signal({peer, 0}, remote, data.data(), local, 0);
        put.source.wait();
        segment.wait(0, ++rounds);
        std::int64_t wrong = 0;
        std::vector<std::byte> expected(span, std::byte{255});
        const int writer = (team.rank() + team.size() - 1) % team.size();
        layout::for_each_piece(local, remote, local.bytes(),
                               [&](std::int64_t from, std::int64_t to, std::int64_t bytes) {
                                 for (std::int64_t i = 0; i < bytes; ++i) {
                                   const auto at = static_cast<std::size_t>(from + i);
                                   expected[static_cast<std::size_t>(to + i)] =
                                       static_cast<std::byte>((at * 31 + at / 251 + index(writer)) % 255);
                                 }
                                 return true;
                               });
        for (std::size_t i = 0; i < span; ++i) {
          wrong += expected[i] == segment.local()[i] ? 0 : 1;
        }
        EXPECT_EQ(wrong, 0) << "runs of " << run;
        put.remote.wait();
        segment.start_get({peer, 0}, remote, back.data(), local).wait();
        layout::for_each_piece(local, local, local.bytes(), [&](std::int64_t from, std::int64_t, std::int64_t bytes) {
          EXPECT_TRUE(std::equal(back.begin() + from, back.begin() + from + bytes, data.begin() + from)) << from;
          return true;
        });
        team.barrier();
      }
    }
  });
}

// Of two gets together, the first is answered late.
TEST(OneSided, ManyEventsMakeOne) {
  on_worlds({1, 3}, [](Team& team) {
    Segment segment(team, 1, 0);
    segment.local()[0] = std::byte{7};
    team.barrier();
    EXPECT_TRUE(all_of({}).test());
    if (team.rank() == 0) {
      std::vector<std::byte> data(index(team.size()));
      std::vector<Event> events;
      for (int peer = 1; peer < team.size(); ++peer) {
        events.push_back(segment.start_get(Pointer<>{peer, 0}, {&data[index(peer)], 1}));
      }
      Event all = all_of(events);
      Event copy = all;
      all.wait();
      EXPECT_TRUE(copy.test());
      EXPECT_TRUE(std::ranges::all_of(events, [](Event event) { return event.test(); }));
      EXPECT_EQ(std::ranges::count(data, std::byte{7}), team.size() - 1);
    } else if (team.rank() == 1) {
      std::this_thread::sleep_for(std::chrono::milliseconds(30));
    }
    team.barrier();
  });
}

TEST(OneSided, TypedPointersCountInElements) {
  on_worlds({1, 2}, [](Team& team) {
    Segment segment(team, 8 * sizeof(double), 0);
    const Pointer<double> first{team.size() - 1, 0};
    if (team.rank() == 0) {
      segment.put(first + 3, std::vector<double>{1.5, 2.5});
      double back = 0;
      segment.get(first + 4, {&back, 1});
      EXPECT_EQ(back, 2.5);
    }
    team.barrier();
    if (team.rank() == team.size() - 1) {
      EXPECT_EQ(segment.local_as<double>()[3], 1.5);
    }
    team.barrier();
  });
}

template <class Word>
void count_together(Team& team) {
  Segment segment(team, 4 * sizeof(Word), 0);
  constexpr Word each = 200;
  std::vector<Word> seen;
  for (Word i = 0; i < each; ++i) {
    seen.push_back(segment.fetch_add(Pointer<Word>{0, sizeof(Word)}, Word{1}));
  }
  EXPECT_TRUE(std::ranges::is_sorted(seen));
  team.barrier();
  EXPECT_EQ(segment.fetch_add(Pointer<Word>{0, sizeof(Word)}, Word{0}), each * static_cast<Word>(team.size()));
  // Of all ranks that swap, one finds what it expects.
  const Word found =
      segment.compare_swap(Pointer<Word>{team.size() - 1, 0}, Word{0}, static_cast<Word>(team.rank() + 5));
  int winners = 0;
  for (const int won : team.all_gather(found == 0 ? 1 : 0)) {
    winners += won;
  }
  EXPECT_EQ(winners, 1);
  const auto all = team.all_gather(found);
  Word value = 0;
  segment.get(Pointer<Word>{team.size() - 1, 0}, {&value, 1});
  for (const Word other : all) {
    EXPECT_TRUE(other == 0 || other == value);
  }
  team.barrier();
}

TEST(OneSided, AtomicOperationsLoseNothing) {
  on_worlds({1, 2, 4, 7}, [](Team& team) {
    count_together<std::uint32_t>(team);
    count_together<std::uint64_t>(team);
    count_together<std::int32_t>(team);
    count_together<std::int64_t>(team);
  });
}

TEST(OneSided, AtomicOperationsRefuseWordsThatAreNotAligned) {
  on_worlds({1, 2}, [](Team& team) {
    Segment segment(team, 16, 0);
    EXPECT_THROW(segment.fetch_add(Pointer<std::uint64_t>{0, 4}, 1), Error);
    EXPECT_THROW(segment.fetch_add(Pointer<std::uint64_t>{0, 16}, 1), Error);
    EXPECT_THROW(segment.fetch_add(Pointer<std::uint64_t>{team.size(), 0}, 1), Error);
    std::byte byte{};
    EXPECT_THROW(segment.get(Pointer<>{0, 16}, {&byte, 1}), Error);
    team.barrier();
  });
}

TEST(OneSided, SignalsAreTestedAndWaitedForAsASet) {
  on_worlds({1, 2, 3}, [](Team& team) {
    Segment segment(team, 8, 3);
    EXPECT_FALSE(segment.test(1, 1));
    team.barrier();
    const int next = (team.rank() + 1) % team.size();
    segment.put_signal(Pointer<>{next, 0}, std::vector<std::byte>(8, std::byte{4}), 2);
    const std::vector<std::uint64_t> wanted{1, 1, 1};
    EXPECT_EQ(segment.wait_any(wanted), 2U);
    EXPECT_EQ(segment.local()[7], std::byte{4});
    EXPECT_TRUE(segment.test(2, 1));
    team.barrier();
  });
}

// A rank that asks is served by one that waits for something else, in another team.
TEST(OneSided, PeersAreServedAcrossTeams) {
  on_worlds({2, 4}, [](Team& team) {
    const Team half = team.split(team.rank() % 2, team.rank());
    Segment everyones(team, 8, 1);
    Segment of_half(half, 8, 1);
    if (team.rank() == 0) {
      of_half.wait(0, half.size() > 1 ? 1 : 0);
    } else if (half.rank() == 1 && team.rank() % 2 == 0) {
      std::vector<std::byte> data(8);
      everyones.get(Pointer<>{0, 0}, data);
      of_half.put_signal(Pointer<>{0, 0}, data, 0);
    }
    team.barrier();
  });
}

}  // namespace
}  // namespace penstock::gas

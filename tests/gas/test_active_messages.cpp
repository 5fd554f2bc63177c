// Active messages run their handlers once each, with what was sent, and replies come back.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/gas/core/rank_index.hpp"
#include "tests/worlds.hpp"

namespace penstock::gas {
namespace {

template <class Done>
void poll_until(const Team& team, const Done& is_done) {
  for (Backoff backoff; !is_done(); backoff.pause()) {
    team.poll();
  }
}

/// Makes a call; whether a handler has thrown out of it.
template <class Call>
bool catching(const Call& call) {
  try {
    call();
  } catch (const std::logic_error&) {
    return true;
  }
  return false;
}

/// As poll_until, whatever handlers throw.
template <class Done>
void catching_until(const Team& team, const Done& is_done) {
  for (Backoff backoff; !is_done(); backoff.pause()) {
    catching([&] { team.poll(); });
  }
}

TEST(ActiveMessages, AreAnswered) {
  on_worlds({1, 2, 3, 7}, [](Team& team) {
    std::uint64_t sum = 0;
    int replies = 0;
    ActiveMessages messages(team, {[](const ActiveMessages::Message& message) {
                                     message.reply(1, {message.arguments()[0] * 10, 0, 0});
                                   },
                                   [&](const ActiveMessages::Message& message) {
                                     sum += message.arguments()[0] + index(message.source());
                                     ++replies;
                                   }});
    std::uint64_t expected = 0;
    for (int peer = 0; peer < team.size(); ++peer) {
      messages.call(peer, 0, {index(team.rank()) + 1, 0, 0});
      expected += (index(team.rank()) + 1) * 10 + index(peer);
    }
    poll_until(team, [&] { return replies == team.size(); });
    EXPECT_EQ(sum, expected);
  });
}

// Far more than the queues hold, in both directions at once.
TEST(ActiveMessages, ArriveOnceEachInOrderHoweverMany) {
  on_worlds({1, 2, 4}, [](Team& team) {
    constexpr std::uint64_t count = 3000;
    std::vector<std::uint64_t> next(index(team.size()), 0);
    std::uint64_t handled = 0;
    bool is_in_order = true;
    bool is_whole = true;
    ActiveMessages messages(team, {[&](const ActiveMessages::Message& message) {
                              std::uint64_t& wanted = next[index(message.source())];
                              is_in_order = is_in_order && message.arguments()[1] == wanted;
                              ++wanted;
                              const std::size_t bytes = message.arguments()[1] * 37 % 4097;
                              is_whole = is_whole && message.payload().size() == bytes &&
                                         std::ranges::all_of(message.payload(), [&](std::byte byte) {
                                           return byte == static_cast<std::byte>(message.arguments()[1]);
                                         });
                              ++handled;
                            }});
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::vector<std::byte> payload(i * 37 % 4097, static_cast<std::byte>(i));
      for (int peer = 0; peer < team.size(); ++peer) {
        messages.call(peer, 0, {0, i, 0}, payload);
      }
    }
    poll_until(team, [&] { return handled == count * index(team.size()); });
    EXPECT_TRUE(is_in_order);
    EXPECT_TRUE(is_whole);
  });
}

TEST(ActiveMessages, ThatAreLongFindTheirPayloadInThePlaceGiven) {
  on_worlds({1, 2, 3}, [](Team& team) {
    for (const std::size_t bytes : {std::size_t{0}, std::size_t{5}, std::size_t{4096}, std::size_t{70'000}}) {
      Segment segment(team, (bytes + 1) * index(team.size()), 0);
      int handled = 0;
      ActiveMessages messages(team, {[&](const ActiveMessages::Message& message) {
                                EXPECT_EQ(message.payload().data(), segment.local().data() + message.arguments()[2]);
                                EXPECT_TRUE(std::ranges::all_of(message.payload(), [&](std::byte byte) {
                                  return byte == static_cast<std::byte>(message.source() + 1);
                                }));
                                EXPECT_EQ(message.payload().size(), bytes);
                                ++handled;
                              }});
      const std::vector<std::byte> payload(bytes, static_cast<std::byte>(team.rank() + 1));
      const std::size_t offset = (bytes + 1) * index(team.rank());
      std::vector<Event> events;
      for (int peer = 0; peer < team.size(); ++peer) {
        events.push_back(messages.call_long(Pointer<>{peer, offset}, segment, payload, 0, {0, 0, offset}));
      }
      wait_all(events);
      poll_until(team, [&] { return handled == team.size(); });
      team.barrier();
    }
  });
}

TEST(ActiveMessages, AreHandledBeforeTheirTableEnds) {
  on_worlds({1, 2, 4}, [](Team& team) {
    int handled = 0;
    {
      ActiveMessages messages(team, {[&](const ActiveMessages::Message& message) {
                                       message.reply(1, {});
                                       ++handled;
                                     },
                                     [&](const ActiveMessages::Message&) { ++handled; }});
      for (int peer = 0; peer < team.size(); ++peer) {
        messages.call(peer, 0, {});
      }
    }
    EXPECT_EQ(handled, 2 * team.size());
  });
}

TEST(ActiveMessages, RefuseWhatIsNotThere) {
  on_worlds({1, 2}, [](Team& team) {
    ActiveMessages messages(team, {[](const ActiveMessages::Message&) {}});
    EXPECT_THROW(messages.call(team.size(), 0, {}), Error);
    EXPECT_THROW(messages.call(0, 1, {}), Error);
    EXPECT_THROW(messages.call(0, 0, {}, std::vector<std::byte>(4097)), Error);
    Segment segment(team, 8, 0);
    EXPECT_THROW(static_cast<void>(messages.call_long(Pointer<>{0, 1}, segment, std::vector<std::byte>(8), 0, {})),
                 Error);
    team.barrier();
  });
}

// What a handler throws comes out of the call that ran it, once; what follows is handled as ever.
TEST(ActiveMessages, AreTakenOnceAlsoWhereTheHandlerThrows) {
  on_worlds({1, 2, 3}, [](Team& team) {
    const std::size_t size = index(team.size());
    std::size_t ready = 0;
    std::size_t thrown = 0;
    std::size_t handled = 0;
    bool is_whole = true;
    ActiveMessages messages(team, {[&](const ActiveMessages::Message&) { ++ready; },
                                   [&](const ActiveMessages::Message&) {
                                     ++thrown;
                                     throw std::logic_error("thrown by a handler");
                                   },
                                   [&](const ActiveMessages::Message& message) {
                                     handled += message.arguments()[0];
                                     is_whole = is_whole && message.payload().size() == 3000;
                                   }});
    // Nobody shall meet what is thrown in a collective call: peers begin when all have left the last one.
    for (int peer = 0; peer < team.size(); ++peer) {
      catching([&] { messages.call(peer, 0, {}); });
    }
    catching_until(team, [&] { return ready >= size; });
    const std::vector<std::byte> payload(3000);
    for (int i = 0; i < 20; ++i) {
      for (int peer = 0; peer < team.size(); ++peer) {
        // What one that waits for room throws is of another message; its own is on its way.
        catching([&] { messages.call(peer, 1, {}, payload); });
        catching([&] { messages.call(peer, 2, {1, 0, 0}, payload); });
      }
    }
    catching_until(team, [&] { return thrown + handled >= 40 * size; });
    EXPECT_EQ(thrown, 20 * size);
    EXPECT_EQ(handled, 20 * size);
    EXPECT_TRUE(is_whole);
    team.barrier();
  });
}

// A rank that throws does not wait in the destructor for peers that wait for it.
TEST(ActiveMessages, OfARankThatThrowsEndAlone) {
  struct Stop {};
  const auto body = [](Team& team) {
    const ActiveMessages messages(team, {[](const ActiveMessages::Message&) {}});
    if (team.rank() == 1) {
      throw Stop();
    }
    poll_until(team, [] { return false; });  // until the team has failed
  };
  EXPECT_THROW(run_world(3, body), Stop);
}

TEST(ActiveMessages, ThatAreLongRefuseSegmentsOfAnotherTeam) {
  on_worlds({2, 4}, [](Team& team) {
    const Team reversed = team.split(0, -team.rank());
    Segment segment(reversed, 16, 0);
    ActiveMessages messages(team, {[](const ActiveMessages::Message&) {}});
    if (team.size() > 1) {
      EXPECT_THROW(static_cast<void>(messages.call_long({0, 0}, segment, std::vector<std::byte>(8), 0, {})), Error);
    }
    team.barrier();
  });
}

TEST(ActiveMessages, RefuseMoreHandlersThanAMessageCanName) {
  on_worlds({1, 2},
            [](Team& team) { EXPECT_THROW(ActiveMessages(team, std::vector<ActiveMessages::Handler>(65537)), Error); });
}

TEST(ActiveMessages, BehindALongOneAreNotLostWhereItsHandlerThrows) {
  on_worlds({1, 2, 3}, [](Team& team) {
    constexpr std::size_t bytes = 100'000;
    constexpr std::size_t count = 5;
    const std::size_t size = index(team.size());
    Segment segment(team, bytes * size, 0);
    std::size_t ready = 0;
    std::size_t thrown = 0;
    std::size_t handled = 0;
    ActiveMessages messages(team, {[&](const ActiveMessages::Message&) { ++ready; },
                                   [&](const ActiveMessages::Message&) {
                                     ++thrown;
                                     throw std::logic_error("thrown by a handler");
                                   },
                                   [&](const ActiveMessages::Message&) { ++handled; }});
    for (int peer = 0; peer < team.size(); ++peer) {
      catching([&] { messages.call(peer, 0, {}); });
    }
    catching_until(team, [&] { return ready >= size; });
    const std::vector<std::byte> payload(bytes);
    std::vector<Event> events(size);
    for (int peer = 0; peer < team.size(); ++peer) {
      const Pointer<> place{peer, bytes * index(team.rank())};
      catching([&] { events[index(peer)] = messages.call_long(place, segment, payload, 1, {}); });
      for (std::size_t i = 0; i < count; ++i) {
        catching([&] { messages.call(peer, 2, {}); });
      }
    }
    catching_until(team, [&] { return thrown >= size && handled >= count * size; });
    EXPECT_EQ(thrown, size);
    EXPECT_EQ(handled, count * size);
    wait_all(events);
  });
}

// Where a handler throws out of a get or an exchange, the caller's memory is its own again, whatever comes later.
TEST(ActiveMessages, ThatThrowOutOfACallLeaveItsMemoryAlone) {
  on_worlds({2, 3}, [](Team& team) {
    if (team.size() == 1) {
      return;
    }
    for (const std::size_t bytes : {std::size_t{100}, std::size_t{200'000}}) {
      Segment segment(team, bytes, 1);
      std::ranges::fill(segment.local(), std::byte{1});
      std::vector<std::byte> got(bytes);
      std::vector<std::byte> mine(bytes * index(team.size()), std::byte{1});
      std::vector<std::byte> received(mine.size());
      ActiveMessages messages(team, {[](const ActiveMessages::Message&) { throw std::logic_error("thrown"); }});
      // Nothing is thrown in a collective call, and rank 1 serves rank 0 again only when that has been thrown at.
      std::uint64_t times = 0;
      const auto thrown_at_during = [&](const auto& call) {
        ++times;
        if (team.rank() == 0) {
          segment.notify(1, 0);
          bool has_thrown = catching(call);
          for (Backoff backoff; !has_thrown; backoff.pause()) {
            has_thrown = catching([&] { team.poll(); });
          }
          return true;
        }
        if (team.rank() == 1) {
          segment.wait(0, times);
          messages.call(0, 0, {});
          std::this_thread::sleep_for(std::chrono::milliseconds(20));
        }
        return false;
      };
      if (thrown_at_during([&] { segment.get(Pointer<>{1, 0}, got); })) {
        std::ranges::fill(got, std::byte{2});
      }
      team.barrier();
      EXPECT_EQ(std::ranges::count(got, std::byte{1}), 0);
      team.barrier();
      if (thrown_at_during([&] { exchange(team, mine, std::span(received)); })) {
        std::ranges::fill(received, std::byte{2});
      } else {
        try {
          exchange(team, mine, std::span(received));  // done where all had been sent already
        } catch (const Error& error) {
          EXPECT_NE(std::string(error.what()).find("rank 0 has given it up"), std::string::npos) << error.what();
        }
      }
      team.barrier();
      EXPECT_EQ(team.rank() == 0 ? std::ranges::count(received, std::byte{1}) : 0, 0);
      team.barrier();
    }
  });
}

}  // namespace
}  // namespace penstock::gas

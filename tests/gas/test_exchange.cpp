// Scheduled exchanges deliver every message of every round, and no rank overtakes a peer that still reads.
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/gas/core/rank_index.hpp"
#include "tests/gas/exchange_rounds.hpp"
#include "tests/worlds.hpp"

namespace penstock::gas {
namespace {

TEST(Exchange, DeliversEveryMessageOfEveryRound) {
  on_worlds({1, 2, 3, 7}, [](Team& team) { run_rounds(team, 3, 64, 20); });
}

TEST(Exchange, DeliversMessagesBeyondMpisEagerLimit) {
  on_worlds({2, 4}, [](Team& team) {
    run_rounds(team, 2, 200'000, 3);
    run_rounds(team, 2, 200'000, 3, Carrier::packets);
  });
}

// What cannot be written in place goes through buffers of a few waves, each of which a later one takes.
TEST(Exchange, WritesWavesThroughBuffersInTurn) {
  on_worlds({1, 2, 3}, [](Team& team) {
    constexpr std::size_t waves = 3 * waves_at_once + 1;
    constexpr std::size_t unit = 6'000;
    AllToAll plan(team, waves, unit);
    for (std::size_t m = 0; m < plan.outgoing.size(); ++m) {
      plan.outgoing[m].wave = m % waves;
    }
    const std::size_t max_bytes = waves_at_once * index(team.size()) * (waves * unit + 128);
    for (const Carrier carrier : {Carrier::fastest, Carrier::packets}) {
      EXPECT_LE(Exchange::buffer_bytes(team, plan.outgoing), max_bytes);
      const Segment segment(team, plan.bytes, 0);
      Exchange exchange(team, segment, plan.outgoing, plan.incoming, carrier);
      for (int round = 0; round < 10; ++round) {
        exchange.open();
        for (std::size_t wave = 0; wave < waves; ++wave) {
          for (std::size_t m = wave; m < plan.outgoing.size(); m += waves) {
            const Outgoing& out = plan.outgoing[m];
            std::fill_n(exchange.destination(m), out.bytes, value_of(team.rank(), out.peer, wave, round));
            exchange.send(m);
          }
        }
        for (std::size_t m = 0; m < plan.incoming.size(); ++m) {
          const Incoming& in = plan.incoming[m];
          exchange.wait(m);
          for (const std::byte value : segment.local().subspan(in.offset, in.bytes)) {
            ASSERT_EQ(value, value_of(in.peer, team.rank(), m % waves, round)) << "round " << round << " message " << m;
          }
        }
        exchange.finish();
      }
    }
  });
}

// Threads of a rank may finish the messages of one exchange after those of the next, to the same peer.
TEST(Exchange, KeepsItsMessagesApartFromAnotherSentBefore) {
  on_worlds({1, 2, 3}, [](Team& team) {
    const AllToAll plan(team, 2, 16);
    const Segment first_segment(team, plan.bytes, 0);
    const Segment second_segment(team, plan.bytes, 0);
    Exchange first(team, first_segment, plan.outgoing, plan.incoming);
    Exchange second(team, second_segment, plan.outgoing, plan.incoming);
    for (int round = 0; round < 5; ++round) {
      first.open();
      second.open();
      for (Exchange* exchange : {&second, &first}) {
        for (std::size_t m = 0; m < plan.outgoing.size(); ++m) {
          std::fill_n(exchange->destination(m), plan.outgoing[m].bytes,
                      static_cast<std::byte>(exchange == &first ? 1 : 2));
          exchange->send(m);
        }
      }
      for (std::size_t m = 0; m < plan.incoming.size(); ++m) {
        first.wait(m);
        second.wait(m);
        EXPECT_EQ(first_segment.local()[plan.incoming[m].offset], std::byte{1});
        EXPECT_EQ(second_segment.local()[plan.incoming[m].offset], std::byte{2});
      }
      first.finish();
      second.finish();
    }
  });
}

TEST(Exchange, WithNoMessagesOnSomeRanksPassesThemBy) {
  on_worlds({1, 3, 4}, [](Team& team) {
    // Rank 0 sends to the last rank; the others take no part.
    const int last = team.size() - 1;
    const Segment segment(team, team.rank() == last ? 8 : 0, 0);
    std::vector<Outgoing> outgoing;
    std::vector<Incoming> incoming;
    if (team.rank() == 0) {
      outgoing.push_back({.peer = last, .offset = 0, .bytes = 8, .index = 0});
    }
    if (team.rank() == last) {
      incoming.push_back({.peer = 0, .offset = 0, .bytes = 8});
    }
    Exchange exchange(team, segment, outgoing, incoming);
    for (int round = 0; round < 5; ++round) {
      exchange.open();
      if (team.rank() == 0) {
        std::fill_n(exchange.destination(0), 8, static_cast<std::byte>(round));
        exchange.send(0);
      }
      if (team.rank() == last) {
        exchange.wait(0);
        EXPECT_EQ(segment.local()[7], static_cast<std::byte>(round));
      }
      exchange.finish();
    }
  });
}

}  // namespace
}  // namespace penstock::gas

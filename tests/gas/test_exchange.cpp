// Scheduled exchanges deliver every message of every round, and no rank overtakes a peer that still reads.
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/gas/rank_index.hpp"
#include "tests/worlds.hpp"

namespace penstock::gas {
namespace {

std::byte value_of(int source, int target, std::size_t message, int round) {
  return static_cast<std::byte>(source * 31 + target * 7 + static_cast<int>(message) * 3 + round);
}

/// Every rank sends `messages` messages of different lengths to every rank, itself included.
struct AllToAll {
  std::vector<Outgoing> outgoing;
  std::vector<Incoming> incoming;
  std::size_t bytes = 0;

  AllToAll(const Team& team, std::size_t messages, std::size_t unit) {
    std::size_t offset = 0;
    for (int source = 0; source < team.size(); ++source) {
      for (std::size_t message = 0; message < messages; ++message) {
        incoming.push_back({.peer = source, .offset = offset, .bytes = unit * (message + 1)});
        offset += unit * (message + 1);
      }
    }
    bytes = offset;
    for (int target = team.size() - 1; target >= 0; --target) {
      for (std::size_t message = 0; message < messages; ++message) {
        const std::size_t number = index(team.rank()) * messages + message;
        outgoing.push_back(
            {.peer = target, .offset = incoming[number].offset, .bytes = incoming[number].bytes, .index = number});
      }
    }
  }
};

void run_rounds(Team& team, std::size_t messages, std::size_t unit, int rounds, Carrier carrier = Carrier::fastest) {
  const AllToAll plan(team, messages, unit);
  const Segment segment(team, plan.bytes, 0);
  Exchange exchange(team, segment, plan.outgoing, plan.incoming, carrier);
  for (int round = 0; round < rounds; ++round) {
    exchange.open();
    for (std::size_t m = 0; m < plan.outgoing.size(); ++m) {
      const Outgoing& out = plan.outgoing[m];
      std::fill_n(exchange.destination(m), out.bytes, value_of(team.rank(), out.peer, m % messages, round));
      exchange.send(m);
    }
    if ((round + team.rank()) % 3 == 0) {
      std::this_thread::yield();  // ranks run apart
    }
    for (std::size_t m = 0; m < plan.incoming.size(); ++m) {
      const Incoming& in = plan.incoming[m];
      exchange.wait(m);
      for (const std::byte value : segment.local().subspan(in.offset, in.bytes)) {
        ASSERT_EQ(value, value_of(in.peer, team.rank(), m % messages, round)) << "round " << round << " message " << m;
      }
    }
    exchange.finish();
  }
}

TEST(Exchange, DeliversEveryMessageOfEveryRound) {
  on_worlds({1, 2, 3, 7}, [](Team& team) { run_rounds(team, 3, 64, 20); });
}

TEST(Exchange, DeliversMessagesBeyondMpisEagerLimit) {
  on_worlds({2, 4}, [](Team& team) {
    run_rounds(team, 2, 200'000, 3);
    run_rounds(team, 2, 200'000, 3, Carrier::packets);
  });
}

TEST(Exchange, DeliversTheSameByMpisOwnCalls) {
  on_worlds({2}, [](Team& team) {
    for (const Carrier carrier : {Carrier::mpi_messages, Carrier::mpi_alltoall, Carrier::mpi_ialltoall}) {
      if (team.transport_name() == "threads") {
        EXPECT_THROW(run_rounds(team, 3, 64, 1, carrier), Error);
      } else {
        run_rounds(team, 3, 64, 20, carrier);
        run_rounds(team, 2, 200'000, 3, carrier);
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

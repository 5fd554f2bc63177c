// Every collective call of the global address space, with one bad rank.
#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <cstdint>
#include <vector>

#include "penstock/base/base.hpp"
#include "tests/collective/one_bad_rank.hpp"
#include "tests/fails_with.hpp"
#include "tests/worlds.hpp"

namespace penstock::gas {
namespace {

/// Of a call none of whose arguments can be wrong: the bad rank fails where it should call.
std::function<void(const Team&, bool)> unless_it_fails(std::function<void(const Team&)> call) {
  return [call = std::move(call)](const Team& team, bool is_bad) {
    team.run_or_revoke([&] {
      if (is_bad) {
        throw Error("this rank has failed");
      }
      call(team);
    });
  };
}

/// A message of 64 bytes from every rank to the next.
struct Ring {
  Segment segment;
  std::vector<Outgoing> outgoing;
  std::vector<Incoming> incoming;

  explicit Ring(const Team& team) : segment(team, 64, 1) {
    outgoing = {{.peer = (team.rank() + 1) % team.size(), .offset = 0, .bytes = 64, .index = 0}};
    incoming = {{.peer = (team.rank() + team.size() - 1) % team.size(), .offset = 0, .bytes = 64}};
  }
};

TEST(OneBadRank, FailsWhatMakesTeamsAndAgreesOnEveryRank) {
  const Case cases[] = {
    {"gas::Team::barrier, a rank of the world fails",
     [](const Team&, bool) {
       run_world(3, [](const Team& team) {
         if (team.rank() == 1) {
           throw Error("rank 1 fails");
         }
         team.barrier();
       });
     }},
#if PENSTOCK_HAS_MPI
    {"gas::world_of, another transport",
     [](const Team& team, bool is_bad) {
       if (team.transport().name == "threads") {
         throw Error("no world of MPI");
       }
       world_of(MPI_COMM_WORLD, reach_named(is_bad ? "mpi" : "shm"));
     }},
#endif
    {"gas::network_rates_of", unless_it_fails([](const Team& team) {
       network_rates_of(team);
       team.barrier();  // where all is local there are none, and nobody waits
     })},
    {"gas::measure_gap, another distance",
     [](const Team& team, bool is_bad) { measure_gap(team, is_bad ? 2 : 1, Carrier::fastest); }},
    {"gas::measure_progress, another distance",
     [](const Team& team, bool is_bad) { measure_progress(team, is_bad ? 2 : 1, Carrier::fastest); }},
    {"gas::Team::split", unless_it_fails([](const Team& team) { team.split(0, 0); })},
    {"gas::Team::barrier", unless_it_fails([](const Team& team) { team.barrier(); })},
    {"gas::Team::all_gather", unless_it_fails([](const Team& team) { team.all_gather(1); })},
    {"gas::Team::all_of", unless_it_fails([](const Team& team) { team.all_of(true); })},
    {"gas::Team::largest", unless_it_fails([](const Team& team) { team.largest(1); })},
    {"gas::Team::agree", [](const Team& team, bool is_bad) { team.agree(is_bad ? "no disk" : ""); }},
    {"gas::Team::agree_on", [](const Team& team, bool is_bad) { team.agree_on("name", is_bad ? "a" : "b"); }},
    {"gas::Team::together",
     [](const Team& team, bool is_bad) {
       team.together([&] {
         if (is_bad) {
           throw std::bad_alloc();
         }
       });
     }},
    {"gas::Team::require_memory",
     [](const Team& team, bool is_bad) { team.require_memory("a field", is_bad ? std::uint64_t{1} << 60 : 1, 0); }},
    {"gas::time_together, its work throws",
     [](const Team& team, bool is_bad) {
       time_together(team, [&] {
         if (is_bad) {
           throw Error("no result");
         }
       });
     }},
  };
  expect_all_ranks_throw(cases);
}

TEST(OneBadRank, FailsWhatTakesMemoryOnEveryRank) {
  const Case cases[] = {
      {"gas::Segment::Segment", [](const Team& team, bool is_bad) { Segment(team, is_bad ? ~std::size_t{0} : 8, 0); }},
      {"gas::GlobalArray::GlobalArray, a negative extent",
       [](const Team& team, bool is_bad) { GlobalArray<int, 1>(team, {.extents = {is_bad ? -1 : 9}}); }},
      {"gas::GlobalArray::GlobalArray, another extent",
       [](const Team& team, bool is_bad) { GlobalArray<int, 1>(team, {.extents = {is_bad ? 8 : 9}}); }},
      {"gas::ActiveMessages::ActiveMessages",
       [](const Team& team, bool is_bad) {
         ActiveMessages(team, std::vector<ActiveMessages::Handler>(is_bad ? 2 : 1));
       }},
      {"gas::Exchange::Exchange, beyond the segment",
       [](const Team& team, bool is_bad) {
         Ring ring(team);
         ring.incoming.front().offset = is_bad ? 1 : 0;
         Exchange(team, ring.segment, ring.outgoing, ring.incoming);
       }},
      {"gas::Exchange::Exchange, a rank that is none",
       [](const Team& team, bool is_bad) {
         Ring ring(team);
         ring.outgoing.front().peer += is_bad ? 3 : 0;
         Exchange(team, ring.segment, ring.outgoing, ring.incoming);
       }},
      {"gas::Exchange::Exchange, not what its peer lists",
       [](const Team& team, bool is_bad) {
         Ring ring(team);
         ring.outgoing.front().bytes = is_bad ? 32 : 64;
         Exchange(team, ring.segment, ring.outgoing, ring.incoming);
       }},
  };
  expect_all_ranks_throw(cases);
}

using Numbers = std::vector<double>;

TEST(OneBadRank, FailsCollectivesOnEveryRank) {
  const auto even = [](std::size_t count, bool is_bad) { return Numbers(is_bad ? count + 1 : count); };
  const Case cases[] = {
      {"gas::start_barrier", unless_it_fails([](const Team& team) { start_barrier(team).wait(); })},
      {"gas::start_broadcast",
       [](const Team& team, bool is_bad) {
         Numbers data(9);
         start_broadcast(team, std::span(data), is_bad ? 3 : 1).wait();
       }},
      {"gas::start_broadcast_bytes",
       [](const Team& team, bool is_bad) {
         Numbers data(9);
         start_broadcast_bytes(team, std::as_writable_bytes(std::span(data)), is_bad ? -1 : 1).wait();
       }},
      {"gas::broadcast",
       [](const Team& team, bool is_bad) {
         Numbers data(100'000);
         broadcast(team, std::span(data), is_bad ? 3 : 1);
       }},
      {"gas::start_all_reduce",
       [&](const Team& team, bool is_bad) {
         Numbers mine(9), all = even(9, is_bad);
         start_all_reduce(team, mine, std::span(all), Sum()).wait();
       }},
      {"gas::start_all_reduce_bytes",
       [&](const Team& team, bool is_bad) {
         Numbers mine(9), all(9);
         start_all_reduce_bytes(team, std::as_bytes(std::span(mine)).first(is_bad ? 71 : 72),
                                std::as_writable_bytes(std::span(all)), combination_of<double, Sum>())
             .wait();
       }},
      {"gas::all_reduce",
       [&](const Team& team, bool is_bad) {
         Numbers mine(100'000), all = even(100'000, is_bad);
         all_reduce(team, mine, std::span(all), Sum());
       }},
      {"gas::start_all_gather",
       [&](const Team& team, bool is_bad) {
         Numbers mine(9), all = even(27, is_bad);
         start_all_gather(team, mine, std::span(all)).wait();
       }},
      {"gas::start_all_gather_bytes",
       [&](const Team& team, bool is_bad) {
         Numbers mine(9), all = even(27, is_bad);
         start_all_gather_bytes(team, std::as_bytes(std::span(mine)), std::as_writable_bytes(std::span(all))).wait();
       }},
      {"gas::all_gather",
       [&](const Team& team, bool is_bad) {
         Numbers mine(9), all = even(27, is_bad);
         all_gather(team, mine, std::span(all));
       }},
      {"gas::start_exchange",
       [&](const Team& team, bool is_bad) {
         Numbers send(9), receive = even(9, is_bad);
         start_exchange(team, send, std::span(receive)).wait();
       }},
      {"gas::start_exchange_bytes",
       [&](const Team& team, bool is_bad) {
         Numbers send(9), receive = even(9, is_bad);
         start_exchange_bytes(team, std::as_bytes(std::span(send)), std::as_writable_bytes(std::span(receive))).wait();
       }},
      {"gas::exchange",
       [](const Team& team, bool is_bad) {
         std::vector<SendBlock> send(is_bad ? 2 : 3);
         std::vector<ReceiveBlock> receive(3);
         exchange(team, send, receive);
       }},
  };
  expect_all_ranks_throw(cases);
}

// The root waits for all; the others may be done when it has what they give.
TEST(OneBadRank, FailsWhatRootsCollectOnTheRoot) {
  const Case cases[] = {
      {"gas::start_reduce",
       [](const Team& team, bool is_bad) {
         Numbers mine(9), all(9);
         start_reduce(team, mine, std::span(all), Sum(), is_bad ? 3 : 0).wait();
       },
       true},
      {"gas::start_reduce_bytes",
       [](const Team& team, bool is_bad) {
         Numbers mine(9), all(9);
         start_reduce_bytes(team, std::as_bytes(std::span(mine)).first(is_bad ? 71 : 72),
                            std::as_writable_bytes(std::span(all)), 0, combination_of<double, Sum>())
             .wait();
       },
       true},
      {"gas::reduce",
       [](const Team& team, bool is_bad) {
         Numbers mine(100'000), all(100'000);
         reduce(team, mine, std::span(all), Sum(), is_bad ? -1 : 0);
       },
       true},
      {"gas::start_gather",
       [](const Team& team, bool is_bad) {
         Numbers mine(9), all(27);
         start_gather(team, mine, std::span(all), is_bad ? 3 : 0).wait();
       },
       true},
      {"gas::start_gather_bytes",
       [](const Team& team, bool is_bad) {
         Numbers mine(9), all(27);
         start_gather_bytes(team, std::as_bytes(std::span(mine)), std::as_writable_bytes(std::span(all)),
                            is_bad ? 3 : 0)
             .wait();
       },
       true},
      {"gas::gather",
       [](const Team& team, bool is_bad) {
         Numbers mine(100'000), all(300'000);
         gather(team, mine, std::span(all), is_bad ? 3 : 0);
       },
       true},
  };
  expect_all_ranks_throw(cases);
}

/// What a rank does over a team that rank 1 revokes; `world` is another one of the same ranks.
void expect_revoked(const Team& world, const Team& team, const std::function<void()>& call) {
  world.barrier();
  if (team.rank() == 1) {
    team.revoke("rank 1 has no more data");
  }
  EXPECT_TRUE(fails_with({"rank 1 has no more data"}, call));
  EXPECT_TRUE(fails_with({"rank 1 has no more data"}, [&] { team.barrier(); }));
}

TEST(RevokedTeam, EndsEveryKindOfWait) {
  on_worlds({3}, [](Team& world) {
    const auto each = [&](const std::function<void(const Team&)>& call) {
      const Team team = world.split(0, world.rank());
      call(team);
      world.barrier();  // peers are done with this rank's parts
    };
    each([&](const Team& team) {
      const Segment segment(team, 8, 2);
      expect_revoked(world, team, [&] { segment.wait(0, 1); });
      EXPECT_THROW(segment.test(0, 1), Error);
      EXPECT_THROW(segment.wait_any(std::vector<std::uint64_t>{1, 1}), Error);
    });
    each([&](const Team& team) {
      Ring ring(team);
      Exchange exchange(team, ring.segment, ring.outgoing, ring.incoming);
      exchange.open();
      expect_revoked(world, team, [&] { exchange.wait(0); });
    });
    each([&](const Team& team) {
      Numbers mine(100'000), all(300'000);
      Event event;
      if (team.rank() != 1) {
        event = start_all_gather(team, mine, std::span(all));
      }
      expect_revoked(world, team, [&] { team.rank() == 1 ? team.barrier() : event.wait_or_abandon(); });
    });
    each([&](const Team& team) {
      expect_revoked(world, team, [&] {
        for (;;) {
          team.poll();
        }
      });
    });
  });
}

// What a peer reads after it was given up is no result.
TEST(RevokedTeam, GivesNoChangedDataToWhoSucceeds) {
  on_worlds({3}, [](Team& world) {
    for (int polls = 0; polls < 60; ++polls) {
      const Team team = world.split(0, world.rank());
      Numbers mine(100'000, team.rank()), all(300'000);
      try {
        Event event = start_all_gather(team, mine, std::span(all));
        if (team.rank() == 1) {
          for (int i = 0; i < polls; ++i) {
            team.poll();
          }
          team.revoke("rank 1 has no more data");
        }
        event.wait_or_abandon();
        for (int rank = 0; rank < team.size(); ++rank) {
          const auto part = std::span(all).subspan(mine.size() * static_cast<std::size_t>(rank), mine.size());
          EXPECT_EQ(std::ranges::count(part, rank), std::ssize(mine));
        }
      } catch (const Error&) {
        std::ranges::fill(mine, -1);
      }
    }
  });
}

TEST(RevokedTeam, LeavesOtherTeamsAlone) {
  on_worlds({3}, [](Team& world) {
    const Team team = world.split(0, world.rank());
    const Team other = world.split(0, world.rank());
    expect_revoked(world, team, [&] { team.barrier(); });
    double mine = 1;
    double sum = 0;
    all_reduce(other, std::span<const double>(&mine, 1), std::span(&sum, 1), Sum());
    EXPECT_EQ(sum, world.size());
    world.barrier();
  });
}

}  // namespace
}  // namespace penstock::gas

// Teams split by rows and columns, gather, and agree on failure.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "penstock/base/base.hpp"
#include "tests/fails_with.hpp"
#include "tests/worlds.hpp"

namespace penstock::gas {
namespace {

/// The number of ranks of the node that has most.
std::uint64_t max_ranks_of_a_node(const Team& team) {
  int most = 0;
  for (int rank = 0; rank < team.size(); ++rank) {
    most = std::max(most, Placement::sharers(team.placement().nodes, rank));
  }
  return static_cast<std::uint64_t>(most);
}

TEST(Team, GathersEveryRanksValueInOrder) {
  on_worlds({1, 2, 3, 7}, [](Team& team) {
    const auto all = team.all_gather(10 * team.rank());
    ASSERT_EQ(all.size(), static_cast<std::size_t>(team.size()));
    for (int i = 0; i < team.size(); ++i) {
      EXPECT_EQ(all[static_cast<std::size_t>(i)], 10 * i);
    }
  });
}

TEST(Team, KnowsThatTestsRunOnOneHost) {
  on_worlds({1, 2, 7}, [](Team& team) { EXPECT_EQ(Placement::count(team.placement().hosts), 1); });
}

TEST(Team, TellsTheLargestValueToAll) {
  on_worlds({1, 2, 3, 7}, [](Team& team) {
    const int middle = team.size() / 2;
    EXPECT_EQ(team.largest(-std::abs(team.rank() - middle)), 0);
    EXPECT_EQ(team.largest(team.rank()), team.size() - 1);
    const double time_s = time_together(team, [&] {
      if (team.rank() == middle) {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
      }
    });
    EXPECT_GE(time_s, 5e-3);
    EXPECT_EQ(team.largest(time_s), time_s);
  });
}

TEST(Team, TellsAllWhetherSomethingIsSoOfAll) {
  on_worlds({1, 2, 3, 7}, [](Team& team) {
    EXPECT_TRUE(team.all_of(true));
    for (int one = 0; one < team.size(); ++one) {
      EXPECT_FALSE(team.all_of(team.rank() != one));
    }
    EXPECT_FALSE(team.all_of(false));
  });
}

TEST(Team, SplitsIntoRowsAndColumnsOfAGrid) {
  on_worlds({1, 4, 6, 7}, [](Team& team) {
    const int columns = team.size() % 2 == 0 ? 2 : 1;
    const int row = team.rank() / columns;
    const int column = team.rank() % columns;
    const Team row_team = team.split(row, column);
    const Team column_team = team.split(-column, -row);  // any colour, and keys in reverse
    EXPECT_EQ(row_team.size(), columns);
    EXPECT_EQ(row_team.rank(), column);
    EXPECT_EQ(column_team.size(), team.size() / columns);
    EXPECT_EQ(column_team.rank(), team.size() / columns - 1 - row);
    const auto ranks = column_team.all_gather(team.rank());
    EXPECT_EQ(ranks[static_cast<std::size_t>(column_team.rank())], team.rank());
    EXPECT_EQ(ranks.back(), column);
  });
}

TEST(Team, ThrowsTheSameErrorOnEveryRankWhereOneHasFailed) {
  on_worlds({1, 3, 4}, [](Team& team) {
    team.agree("");
    try {
      team.agree(team.rank() == team.size() - 1 ? "rank " + std::to_string(team.rank()) + " has no disk" : "");
      ADD_FAILURE() << "nothing was thrown";
    } catch (const Error& error) {
      EXPECT_EQ(error.what(), "rank " + std::to_string(team.size() - 1) + " has no disk");
    }
    team.barrier();  // the team is still of use
  });
}

TEST(Team, TellsWhichRankGaveAnotherArgument) {
  on_worlds({2, 5}, [](Team& team) {
    team.agree_on("size", "64");
    if (team.size() == 1) {
      return;
    }
    try {
      team.agree_on("size", team.rank() == 1 ? "32" : "64");
      ADD_FAILURE() << "nothing was thrown";
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("rank 0 has '64', rank 1 has '32'"), std::string::npos) << error.what();
    }
  });
}

TEST(Team, TellsWhereLongArgumentsDiffer) {
  on_worlds({2, 5}, [](Team& team) {
    const std::string beginning(5000, 'a');
    team.agree_on("arguments", beginning);
    const std::string mine = beginning + (team.rank() == 0 ? " --size 64" : " --size 32");
    if (team.size() > 1) {
      EXPECT_TRUE(fails_with({"a --size 64', rank 1 has", "a --size 32'"}, [&] { team.agree_on("arguments", mine); }));
    }
    team.barrier();  // the team is still of use
  });
}

TEST(Team, ThrowsOnAllWhereTheWorkOfOneFails) {
  on_worlds({1, 4}, [](Team& team) {
    team.together([] {});
    EXPECT_TRUE(fails_with({"no disk"}, [&] {
      team.together([&] {
        if (team.rank() == team.size() / 2) {
          throw Error("no disk");
        }
      });
    }));
  });
}

TEST(Team, RefusesMemoryThatTheRanksOfANodeDoNotHaveTogether) {
  on_worlds({1, 3}, [](Team& team) {
    const std::uint64_t ranks = max_ranks_of_a_node(team);
    team.require_memory("a field", 1000, 1000 * ranks);
    EXPECT_TRUE(fails_with({"a field wants", "of memory on", "which has"},
                           [&] { team.require_memory("a field", 1000, 1000 * ranks - 1); }));
    EXPECT_TRUE(fails_with({"a field wants"}, [&] {
      team.require_memory("a field", std::numeric_limits<std::uint64_t>::max() / 2 + 1, 0);  // the sum overflows
    }));
  });
}

TEST(Team, OfOneNeedsNoMpi) {
  const Team team = world_alone();
  EXPECT_EQ(team.rank(), 0);
  EXPECT_EQ(team.size(), 1);
  EXPECT_EQ(team.transport().name, "threads");
  EXPECT_TRUE(team.is_local(0));
}

TEST(RunWorld, RethrowsTheFirstFailureAndFreesTheRanksThatWait) {
  std::atomic<int> freed = 0;
  EXPECT_THROW(run_world(3,
                         [&](Team& team) {
                           if (team.rank() == 1) {
                             throw std::runtime_error("rank 1");
                           }
                           try {
                             team.barrier();
                           } catch (const Error&) {
                             ++freed;
                             throw;
                           }
                         }),
               std::runtime_error);
  EXPECT_EQ(freed, 2);
}

TEST(RunWorld, RefusesFewerThanOneRank) {
  EXPECT_THROW(run_world(0, [](Team&) {}), Error);
}

}  // namespace
}  // namespace penstock::gas

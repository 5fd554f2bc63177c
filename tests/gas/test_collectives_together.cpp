// Many collective calls at once, on several teams; and calls on which the ranks do not agree.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/gas/core/rank_index.hpp"
#include "tests/fails_with.hpp"
#include "tests/worlds.hpp"

namespace penstock::gas {
namespace {

/// What rank `rank` of the world gives in call `call`.
std::vector<std::uint64_t> data_of(std::uint64_t call, int rank, std::size_t count) {
  std::mt19937_64 random(1000 * call + index(rank));
  std::vector<std::uint64_t> data(count);
  std::ranges::generate(data, random);
  return data;
}

/// A call that is under way, its memory, and what is to be in it.
struct Running {
  std::vector<std::uint64_t> mine;
  std::vector<std::uint64_t> plain;
  std::unique_ptr<Segment> segment;
  std::span<std::uint64_t> result;
  std::vector<std::uint64_t> expected;
  bool has_result = true;
  Event event;
};

/// Begins a call of some kind and length, the same on all ranks of the team.
std::unique_ptr<Running> begin(const Team& team, std::uint64_t call, std::mt19937_64& random) {
  auto running = std::make_unique<Running>();
  const std::uint64_t kind = random() % 7;
  const std::size_t count = random() % 4 == 0 ? random() % 40'000 : random() % 600 * (random() % 4 != 0 ? 1 : 0);
  const int root = static_cast<int>(random() % index(team.size()));
  const bool is_in_segment = random() % 4 == 0;
  const auto part_of = [&](int rank) { return data_of(call, team.world_rank(rank), count); };
  const auto size = index(team.size());
  running->mine = part_of(team.rank());
  std::vector<std::uint64_t>& expected = running->expected;
  if (kind == 4 || kind == 5) {
    for (int rank = 0; rank < team.size(); ++rank) {
      const auto part = part_of(rank);
      expected.insert(expected.end(), part.begin(), part.end());
    }
  } else if (kind == 6) {
    running->mine = data_of(call, team.world_rank(team.rank()), count * size);
    for (int rank = 0; rank < team.size(); ++rank) {
      const auto given = data_of(call, team.world_rank(rank), count * size);
      expected.insert(expected.end(), given.begin() + static_cast<std::ptrdiff_t>(count * index(team.rank())),
                      given.begin() + static_cast<std::ptrdiff_t>(count * (index(team.rank()) + 1)));
    }
  } else if (kind == 1) {
    expected = part_of(root);
  } else if (kind > 1) {
    expected = part_of(0);
    for (int rank = 1; rank < team.size(); ++rank) {
      const auto part = part_of(rank);
      std::ranges::transform(expected, part, expected.begin(), std::plus<>());
    }
  }
  if (is_in_segment) {
    running->segment = std::make_unique<Segment>(team, expected.size() * sizeof(std::uint64_t), 0);
    running->result = running->segment->local_as<std::uint64_t>();
  } else {
    running->plain.resize(expected.size());
    running->result = running->plain;
  }
  const std::span<std::uint64_t> result = running->result;
  switch (kind) {
    case 0:
      running->event = start_barrier(team);
      break;
    case 1:
      if (team.rank() == root) {
        std::ranges::copy(running->mine, result.begin());
      }
      running->event = start_broadcast(team, result, root);
      break;
    case 2:
      running->has_result = team.rank() == root;
      running->event = start_reduce(team, running->mine, result, Sum(), root);
      break;
    case 3:
      running->event = start_all_reduce(team, running->mine, result, Sum());
      break;
    case 4:
      running->has_result = team.rank() == root;
      running->event = start_gather(team, running->mine, result, root);
      break;
    case 5:
      running->event = start_all_gather(team, running->mine, result);
      break;
    default:
      running->event = start_exchange(team, running->mine, result);
  }
  return running;
}

void expect_result(const Running& running, int rank) {
  EXPECT_TRUE(!running.has_result || std::ranges::equal(running.result, running.expected)) << "rank " << rank;
}

TEST(CollectivesTogether, ManyAreUnderWayOnSeveralTeamsAndEndInAnyOrder) {
  on_worlds({1, 2, 3, 5, 8}, [](Team& world) {
    const Team rows = world.split(world.rank() % 2, world.rank());
    const Team columns = world.split(world.rank() / 2, -world.rank());
    const Team* const teams[] = {&world, &rows, &columns};
    // What is called is drawn alike on every rank; in which order it is waited for, on each for itself.
    std::mt19937_64 common(7);
    std::mt19937_64 own(index(world.rank()));
    std::vector<std::unique_ptr<Running>> running;
    for (std::uint64_t call = 0; call < 120; ++call) {
      // Teams of several colours draw the same lengths, so that all ranks go on alike.
      running.push_back(begin(*teams[common() % 3], call, common));
      if (running.size() > 10) {
        const std::size_t which = own() % running.size();
        running[which]->event.wait();
        expect_result(*running[which], world.rank());
        // A segment ends when no peer writes there any more, which the event tells.
        running.erase(running.begin() + static_cast<std::ptrdiff_t>(which));
      }
    }
    std::vector<Event> events;
    for (const auto& one : running) {
      events.push_back(one->event);
    }
    static_cast<void>(wait_any(events));
    wait_all(events);
    for (const auto& one : running) {
      expect_result(*one, world.rank());
    }
    world.barrier();
  });
}

TEST(CollectivesTogether, EachIsDoneWhenItsOwnEventIs) {
  on_worlds({2, 4}, [](Team& team) {
    if (team.size() == 1) {
      return;
    }
    // Rank 0 begins the second call only when it has heard that the first is done elsewhere.
    Segment heard(team, 0, 1);
    std::uint64_t one = index(team.rank());
    std::uint64_t two = 0;
    Event first = start_broadcast(team, std::span(&one, 1), 1);
    if (team.rank() == 0) {
      first.wait();
      heard.wait(0, index(team.size() - 1));
      start_all_reduce(team, std::span(&one, 1), std::span(&two, 1), Sum()).wait();
    } else {
      const std::uint64_t mine = 1;
      Event second = start_all_reduce(team, std::span(&mine, 1), std::span(&two, 1), Sum());
      first.wait();
      EXPECT_EQ(one, 1U);
      EXPECT_FALSE(second.test());
      heard.notify(0, 0);
      second.wait();
    }
    EXPECT_EQ(two, index(team.size()));
    team.barrier();
  });
}

/// Runs a call that must fail on every rank, and one that shows that the team is still of use.
void expect_failure(Team& team, const std::vector<std::string>& words, const std::function<void()>& call) {
  try {
    call();
    ADD_FAILURE() << "nothing was thrown on rank " << team.rank();
  } catch (const Error& error) {
    for (const std::string& word : words) {
      EXPECT_NE(std::string(error.what()).find(word), std::string::npos) << error.what();
    }
  }
  int mine = 1;
  int all = 0;
  all_reduce(team, std::span(&mine, 1), std::span(&all, 1), Sum());
  EXPECT_EQ(all, team.size());
}

TEST(CollectivesTogether, AnExchangeOfDifferentLengthsFailsOnBothRanks) {
  on_worlds({2, 4}, [](Team& team) {
    if (team.size() == 1) {
      return;
    }
    // Rank 0 gives rank 1 fewer bytes than that expects: short ones, long ones, and one of each.
    for (const auto& [given, expected] : {std::pair{8, 16}, std::pair{9000, 10'000}, std::pair{16, 9000}}) {
      std::vector<std::byte> data(10'000);
      Segment segment(team, 100'000, 0);
      std::vector<SendBlock> send(index(team.size()), std::span(data).first(64));
      std::vector<ReceiveBlock> receive;
      for (int peer = 0; peer < team.size(); ++peer) {
        receive.emplace_back(segment.local().subspan(index(peer) * 10'000, 64));
      }
      if (team.rank() == 0) {
        send[1] = std::span(data).first(index(given));
      } else if (team.rank() == 1) {
        receive[0] = segment.local().first(index(expected));
      }
      if (team.rank() < 2) {
        expect_failure(
            team,
            {"rank 0 sends " + std::to_string(given) + " bytes to rank 1, which expects " + std::to_string(expected)},
            [&] { exchange(team, send, receive); });
      } else {
        try {
          exchange(team, send, receive);  // of ranks that are not concerned it may fail or not
        } catch (const Error&) {
        }
        int mine = 1;
        int all = 0;
        all_reduce(team, std::span(&mine, 1), std::span(&all, 1), Sum());
      }
      team.barrier();
    }
  });
}

TEST(CollectivesTogether, ArgumentsOfOneRankThatCannotBeUsedFailOnAll) {
  on_worlds({1, 3, 4}, [](Team& team) {
    const bool is_last = team.rank() == team.size() - 1;
    std::vector<int> data(8 * index(team.size()));
    std::vector<int> place(data.size());
    expect_failure(team, {"exchange on rank " + std::to_string(team.size() - 1), "is received into has"},
                   [&] { exchange(team, data, std::span(place).first(is_last ? 1 : data.size())); });
    expect_failure(team, {"the root is " + std::to_string(team.size())},
                   [&] { broadcast(team, std::span(data), team.size()); });
    const std::vector<SendBlock> few(1);
    const std::vector<ReceiveBlock> many(index(team.size() + 1));
    expect_failure(team, {"give one for each"}, [&] { exchange(team, few, many); });
  });
}

TEST(CollectivesTogether, DifferentCallsAndLengthsOfRanksAreToldApart) {
  on_worlds({2, 4}, [](Team& team) {
    if (team.size() == 1) {
      return;
    }
    std::vector<int> data(1000);
    std::vector<int> result(1000);
    const std::size_t length = team.rank() == 1 ? 100 : 99;
    expect_failure(team, {"all_reduce", "give all ranks the same"},
                   [&] { all_reduce(team, std::span(data).first(length), std::span(result).first(length), Sum()); });
    expect_failure(team, {"different collective calls at a time"}, [&] {
      team.rank() == 1 ? all_reduce(team, data, std::span(result), Sum()) : start_barrier(team).wait();
    });
  });
}

}  // namespace
}  // namespace penstock::gas

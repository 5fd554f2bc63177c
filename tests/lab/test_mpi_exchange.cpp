// MPI's own ways to exchange, which ours is compared with, deliver every message; they need ranks of MPI.
#include <gtest/gtest.h>

#include "penstock/lab/exchange/exchange.hpp"
#include "tests/gas/exchange_rounds.hpp"
#include "tests/worlds.hpp"

namespace penstock::lab {
namespace {

TEST(MpiExchange, DeliversEveryMessageOfEveryRound) {
  gas::on_worlds({2}, [](gas::Team& team) {
    for (const MpiExchange kind : {MpiExchange::messages, MpiExchange::alltoall, MpiExchange::ialltoall}) {
      const auto method = mpi_exchange(kind, MPI_COMM_WORLD);
      const auto run = [&](std::size_t messages, std::size_t unit, int rounds) {
        gas::run_rounds(team, messages, unit, rounds, gas::Carrier::fastest, method.get());
      };
      if (team.transport().name == "threads") {
        EXPECT_THROW(run(3, 64, 1), Error);
      } else {
        run(3, 64, 20);
        run(2, 200'000, 3);
      }
    }
  });
}

// A team of some ranks, in another order than the world's.
TEST(MpiExchange, IsForTheTeamThatItIsGiven) {
  gas::on_worlds({1}, [](gas::Team& team) {
    if (team.transport().name == "threads") {
      return;
    }
    gas::Team part = team.split(team.rank() % 2, -team.rank());
    for (const MpiExchange kind : {MpiExchange::messages, MpiExchange::alltoall, MpiExchange::ialltoall}) {
      gas::run_rounds(part, 2, 1000, 5, gas::Carrier::fastest, mpi_exchange(kind, MPI_COMM_WORLD).get());
    }
  });
}

}  // namespace
}  // namespace penstock::lab

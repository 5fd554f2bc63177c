// Transforms whose exchanges are MPI's own, which ours are compared with, agree with the definition.
#include <gtest/gtest.h>

#include "penstock/fft/fft.hpp"
#include "penstock/lab/exchange/exchange.hpp"
#include "tests/fft/reference.hpp"
#include "tests/worlds.hpp"

namespace penstock::lab {
namespace {

using fft::Extents;
using fft::Plan;
using fft::tolerance;
using fft::worst_error;

// Grids with empty ranks, uneven messages, and threads that finish planes in another order than they began them.
TEST(TransformByMpisOwnWays, AgreesWithTheDefinitionAndNeedsMpi) {
  gas::on_worlds({1, 2}, [](gas::Team& team) {
    for (const MpiExchange kind : {MpiExchange::alltoall, MpiExchange::messages, MpiExchange::ialltoall}) {
      for (const Extents& size : {Extents{24, 25, 18}, Extents{13, 11, 7}, Extents{5, 3, 2}}) {
        fft::Options options{.size = size,
                             .planes_per_message = kind == MpiExchange::alltoall ? 0 : 1,
                             .exchange_method = mpi_exchange(kind, MPI_COMM_WORLD),
                             .threads = 2,
                             .effort = fft::Effort::estimate};
        if (team.transport().name == "threads" && (team.size() > 1 || kind != MpiExchange::messages)) {
          EXPECT_THROW(Plan<double>(team, options), Error);
          continue;
        }
        EXPECT_LE(worst_error<double>(team, options), tolerance<double>(size));
        options.grid = {team.size(), 1};
        options.output = fft::Output::as_input;
        options.type = fft::Type::r2c;
        EXPECT_LE(worst_error<float>(team, options), tolerance<float>(size));
      }
    }
  });
}

}  // namespace
}  // namespace penstock::lab

// The main program of tests that run on worlds: reads --world, starts MPI where asked, lets one rank report.
#include "tests/worlds.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::gas {
namespace {

std::string world = "threads";  // what --world says; a test program's main has nobody else to tell

#if PENSTOCK_HAS_MPI
// The world of the ranks that mpiexec started, made once for all tests: UCX takes 0.1 s to make one, and a team
// measures its network once.
std::optional<Team> started_world;

/// Collective: runs `body` on that world. Where a rank throws, or the world was revoked, the next test has a new one.
void on_started_world(const std::function<void(Team&)>& body) {
  if (!started_world) {
    started_world.emplace(world_of(MPI_COMM_WORLD, reach_named(world)));
  }
  std::exception_ptr failure;
  try {
    body(*started_world);
  } catch (...) {
    failure = std::current_exception();
    started_world->revoke("a test has failed on another rank");
  }
  try {
    started_world->barrier();  // serves peers until they have ended as well
  } catch (const Error&) {
    started_world.reset();
  }
  if (failure) {
    std::rethrow_exception(failure);
  }
}

/// Under mpiexec rank 0 prints as always; the others print what fails, with their rank before it.
class FailurePrinter final : public testing::EmptyTestEventListener {
 public:
  explicit FailurePrinter(int rank) : rank_(rank) {}

 private:
  void OnTestPartResult(const testing::TestPartResult& result) override {
    if (result.failed()) {
      std::fprintf(stderr, "rank %d: %s:%d: %s\n", rank_, result.file_name(), result.line_number(), result.summary());
    }
  }
  int rank_;
};

int run_under_mpi(int* argc, char*** argv) {
  // Open MPI 4 has one-sided calls over TCP only below MPI_THREAD_MULTIPLE.
  int level = world.ends_with("rma") ? MPI_THREAD_SERIALIZED : MPI_THREAD_MULTIPLE;
  MPI_Init_thread(argc, argv, level, &level);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank != 0) {
    testing::TestEventListeners& listeners = testing::UnitTest::GetInstance()->listeners();
    delete listeners.Release(listeners.default_result_printer());
    listeners.Append(new FailurePrinter(rank));
  }
  int failure = RUN_ALL_TESTS();
  started_world.reset();
  int any_failure = 0;
  MPI_Allreduce(&failure, &any_failure, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  MPI_Finalize();
  return any_failure;
}
#endif

}  // namespace

void on_worlds(std::initializer_list<int> ranks, const std::function<void(Team&)>& body) {
#if PENSTOCK_HAS_MPI
  if (world != "threads") {
    on_started_world(body);
    return;
  }
#endif
  for (const int count : ranks) {
    run_world(count, body);
  }
}

std::uint64_t max_on_a_node(const Team& team, std::uint64_t bytes) {
  const std::vector<int>& nodes = team.placement().nodes;
  const std::vector<std::uint64_t> of_ranks = team.all_gather(bytes);
  std::vector<std::uint64_t> of_nodes(nodes.size());
  for (std::size_t rank = 0; rank < nodes.size(); ++rank) {
    of_nodes[static_cast<std::size_t>(nodes[rank])] += of_ranks[rank];
  }
  return std::ranges::max(of_nodes);
}

}  // namespace penstock::gas

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  for (int i = 1; i < argc; ++i) {
    constexpr std::string_view option = "--world=";
    if (std::string_view(argv[i]).starts_with(option)) {
      penstock::gas::world = std::string_view(argv[i]).substr(option.size());
    }
  }
#if PENSTOCK_HAS_MPI
  if (penstock::gas::world != "threads") {
    return penstock::gas::run_under_mpi(&argc, &argv);
  }
#endif
  return RUN_ALL_TESTS();
}

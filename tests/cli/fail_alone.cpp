// A program whose last rank fails while the others wait for it, or after they have ended well: fail_alone midway|late.
#include <string_view>

#include "penstock/cli/core/processes.hpp"

int main(int argc, char** argv) {
  using penstock::cli::Outcome;
  penstock::cli::Processes processes;
  const bool is_midway = argc > 1 && std::string_view(argv[1]) == "midway";
  const penstock::gas::Team team = penstock::gas::world_of(MPI_COMM_WORLD);
  if (team.rank() == team.size() - 1) {
    return processes.conclude({1, "no disk"});
  }
  if (is_midway) {
    team.barrier();  // for ever
  }
  return processes.conclude(Outcome{});
}

#include "penstock/scalapack/grids.hpp"

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "penstock/base/base.hpp"
#include "penstock/scalapack/blacs.hpp"

namespace penstock::scalapack {
namespace {

/// The ranks in MPI_COMM_WORLD of a context's processes, row by row: each adds its own in its place.
std::vector<int> world_ranks(int context, const gemm::ProcessGrid& grid, int place) {
  std::vector<int> ranks(static_cast<std::size_t>(grid.rows) * static_cast<std::size_t>(grid.columns));
  MPI_Comm_rank(MPI_COMM_WORLD, &ranks[static_cast<std::size_t>(place)]);
  const auto count = static_cast<int>(ranks.size());
  Cigsum2d(context, "All", " ", count, 1, ranks.data(), count, -1, -1);
  return ranks;
}

MPI_Comm communicator_of(const std::vector<int>& ranks) {
  MPI_Group world = MPI_GROUP_NULL;
  MPI_Group group = MPI_GROUP_NULL;
  MPI_Comm communicator = MPI_COMM_NULL;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_incl(world, static_cast<int>(ranks.size()), ranks.data(), &group);
  MPI_Comm_create_group(MPI_COMM_WORLD, group, 0, &communicator);
  MPI_Group_free(&group);
  MPI_Group_free(&world);
  return communicator;
}

}  // namespace

Grids::Grids() {
  // MPI_Finalize begins by deleting what is attached to MPI_COMM_SELF: the last moment at which teams can end.
  int key = MPI_KEYVAL_INVALID;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, clear, &key, nullptr);
  MPI_Comm_set_attr(MPI_COMM_SELF, key, this);
  MPI_Comm_free_keyval(&key);
}

Grids& Grids::get() {
  static Grids& grids = *std::make_unique<Grids>().release();  // MPI's end ends it, not the program's
  return grids;
}

int Grids::clear(MPI_Comm, int, void* grids, void*) {
  auto& teams = static_cast<Grids*>(grids)->teams_;
  for (auto& [ranks, grid] : teams) {
    MPI_Comm communicator = grid.communicator;
    { const gas::Team ends_first = std::move(grid.team); }
    MPI_Comm_free(&communicator);
  }
  teams.clear();
  return MPI_SUCCESS;
}

GridTeam& Grids::of(int context) {
  gemm::ProcessGrid grid;
  int row = -1;
  int column = -1;
  Cblacs_gridinfo(context, &grid.rows, &grid.columns, &row, &column);
  if (row < 0 || column < 0) {
    throw Error(fmt::format("p?gemm: this process is not of the grid of BLACS's context {}", context));
  }
  const std::vector<int> ranks = world_ranks(context, grid, row * grid.columns + column);
  auto found = teams_.find(ranks);
  if (found == teams_.end()) {
    MPI_Comm communicator = communicator_of(ranks);
    found = teams_.emplace(ranks, GridTeam{communicator, gas::world_of(communicator), grid}).first;
  }
  found->second.grid = grid;  // the same processes may be a grid of another shape
  return found->second;
}

}  // namespace penstock::scalapack

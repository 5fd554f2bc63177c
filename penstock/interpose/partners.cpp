#include "penstock/interpose/partners.hpp"

#include <algorithm>
#include <array>

#include "penstock/interpose/packed_side.hpp"

namespace penstock::interpose {
namespace {

std::optional<Partners> neighbours_in_grid(MPI_Comm comm) noexcept {
  constexpr int most_dimensions = 32;
  int dimensions = 0;
  std::array<int, most_dimensions> extents{};
  std::array<int, most_dimensions> periods{};
  std::array<int, most_dimensions> place{};
  if (PMPI_Cartdim_get(comm, &dimensions) != MPI_SUCCESS || dimensions > most_dimensions ||
      PMPI_Cart_get(comm, dimensions, extents.data(), periods.data(), place.data()) != MPI_SUCCESS) {
    return std::nullopt;
  }
  const bool is_periodic = std::all_of(periods.begin(), periods.begin() + dimensions, [](int p) { return p != 0; });
  return Partners{.to = 2 * dimensions, .from = 2 * dimensions, .some_absent = !is_periodic};
}

}  // namespace

std::optional<Partners> everyone_in(MPI_Comm comm) noexcept {
  if (!is_intracommunicator(comm)) {
    return std::nullopt;
  }
  return Partners{.to = size_of(comm), .from = size_of(comm), .own = rank_in(comm)};
}

std::optional<Partners> neighbours_in(MPI_Comm comm) noexcept {
  int topology = MPI_UNDEFINED;
  if (!is_intracommunicator(comm) || PMPI_Topo_test(comm, &topology) != MPI_SUCCESS) {
    return std::nullopt;
  }
  if (topology == MPI_CART) {
    return neighbours_in_grid(comm);
  }
  Partners partners{.to = 0, .from = 0, .some_absent = true};
  int is_weighted = 0;
  if (topology == MPI_DIST_GRAPH &&
      PMPI_Dist_graph_neighbors_count(comm, &partners.from, &partners.to, &is_weighted) == MPI_SUCCESS) {
    return partners;
  }
  if (topology == MPI_GRAPH && PMPI_Graph_neighbors_count(comm, rank_in(comm), &partners.to) == MPI_SUCCESS) {
    partners.from = partners.to;
    return partners;
  }
  return std::nullopt;
}

}  // namespace penstock::interpose

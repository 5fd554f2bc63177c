// Deliveries: the panels of a factor that must be sent to a worker, and the senders.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "penstock/gemm/cannon_grid.hpp"
#include "penstock/gemm/operand.hpp"

namespace penstock::gemm {

/// A panel that does not lie where its worker can multiply it.
struct Delivery {
  int step;
  Range rows;  // of the factor
  Range columns;
  std::optional<int> before;  // the worker that hands it on; none: its owners send it
};

/// The rows and columns of the factor that a worker wants at a step.
inline std::pair<Range, Range> wanted(Factor factor, const CannonGrid& grid, int worker, int step) {
  const Range panel = grid.panel(worker, step);
  return factor == Factor::a ? std::pair(grid.rows(worker), panel) : std::pair(panel, grid.columns(worker));
}

/// In the order of the steps. Of ranks with equal `nodes` each maps what the others own, and a panel that is whole on
/// one of them is multiplied in place.
template <class T>
std::vector<Delivery> deliveries(Factor factor, const CannonGrid& grid, const Operand<T>& operand, int worker,
                                 std::span<const int> nodes) {
  std::vector<Delivery> list;
  for (int step = 0; step < grid.steps(); ++step) {
    const auto [rows, columns] = wanted(factor, grid, worker, step);
    if (rows.extent == 0 || columns.extent == 0) {
      continue;
    }
    const auto parts = operand.parts(rows, columns);
    const bool is_in_place = parts.size() == 1 && nodes[static_cast<std::size_t>(parts.front().rank)] ==
                                                      nodes[static_cast<std::size_t>(worker)];
    if (!is_in_place) {
      list.push_back({step, rows, columns, grid.before(factor, worker, step)});
    }
  }
  return list;
}

}  // namespace penstock::gemm

// Products on a grid of workers to which panels of A and B are put, with signals: Cannon's algorithm and its kin.
#pragma once

#include "penstock/base/base.hpp"
#include "penstock/gas/gas.hpp"
#include "penstock/gemm/cannon_grid.hpp"
#include "penstock/gemm/distributed.hpp"
#include "penstock/gemm/operand.hpp"

namespace penstock::gemm {

/// Whether the workers' tiles are what the ranks own of C, so that they multiply right into it.
template <class T>
bool works_in_place(const CannonGrid& grid, const GlobalMatrix<T>& c) {
  return grid.shape() == CannonGrid::Shape{1, static_cast<int>(c.grid()[0]), static_cast<int>(c.grid()[1])} &&
         grid.row_block() == c.blocks()[0] && grid.column_block() == c.blocks()[1];
}

/// Collective: C = alpha A B + beta C, all in one block a rank; counts into `times`. Throws Error on every rank where
/// one has no memory.
template <class T>
void multiply_by_shifts(const gas::Team& team, const CannonGrid& grid, Operand<T> a, Operand<T> b, T alpha, T beta,
                        GlobalMatrix<T>& c, ThreadPool& pool, DistributedTimes& times);

}  // namespace penstock::gemm

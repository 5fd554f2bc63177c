// Sums up the tiles of C that the layers of workers have made, on the ranks that own C.
#pragma once

#include "penstock/gas/gas.hpp"
#include "penstock/gemm/cannon_grid.hpp"
#include "penstock/gemm/distributed.hpp"

namespace penstock::gemm {

/// What this rank needs in memory for it, in bytes.
template <class T>
std::int64_t layer_sum_bytes(const CannonGrid& grid, const GlobalMatrix<T>& c);

/// Collective: C = beta C + the sum of all workers' tiles; `tile` is this rank's, in C order. C is in one block a rank.
/// Throws Error on every rank where one has no memory.
template <class T>
void add_tiles(const gas::Team& team, const CannonGrid& grid, const T* tile, T beta, GlobalMatrix<T>& c);

}  // namespace penstock::gemm

// ScaLAPACK's p?gemm: products of sub-matrices that lie block-cyclically on a grid of processes. Included by gemm.hpp.
#pragma once

#include <complex>

#include "penstock/gas/gas.hpp"
#include "penstock/gemm/distributed.hpp"

#pragma GCC visibility push(default)

namespace penstock::gemm {

/// The places of a team's ranks on ScaLAPACK's grid of processes, as BLACS keeps them in a context.
struct ProcessGrid {
  enum class Order { by_rows, by_columns };  ///< BLACS's "Row" and "Column"

  int rows = 1;
  int columns = 1;
  Order order = Order::by_rows;

  int row_of(int rank) const noexcept { return order == Order::by_rows ? rank / columns : rank % rows; }
  int column_of(int rank) const noexcept { return order == Order::by_rows ? rank % columns : rank / rows; }
};

/// sub(C) = alpha op(sub(A)) op(sub(B)) + beta sub(C), with ScaLAPACK's arguments in their order: op is 'N', 'T' or
/// 'C', indices begin at 1, a descriptor has 9 numbers, and `a`, `b`, `c` are this rank's columns of the whole
/// matrices. sub(C) is m x n. The context of a descriptor (its second number) is not used: `grid` takes its place.
/// Where alpha is 0, A and B are not read; where beta is 0, C is not read.
///
/// Collective, with the same arguments on all ranks, except the arrays and their leading dimensions. The team has as
/// many ranks as the grid. Throws Error on every rank where an argument is not valid, the ranks' arguments differ, or
/// one rank has no memory. Where a rank fails midway the team is revoked (see gas::Team).
///
/// The sub-matrices are copied into matrices in one block a rank, `multiply` multiplies these on `threads` threads a
/// rank, and C is copied back. Each element of A and B is moved once, each of C once each way. This takes the memory of
/// the sub-matrices once more.
///
/// T: float, double, or a complex of one.
template <class T>
DistributedTimes pgemm(const gas::Team& team, const ProcessGrid& grid, char op_a, char op_b, int m, int n, int k,
                       T alpha, const T* a, int ia, int ja, const int* desc_a, const T* b, int ib, int jb,
                       const int* desc_b, T beta, T* c, int ic, int jc, const int* desc_c, int threads = 1);

}  // namespace penstock::gemm

#pragma GCC visibility pop

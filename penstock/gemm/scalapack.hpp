// ScaLAPACK's p?gemm: products of sub-matrices that lie block-cyclically on a grid of processes. Included by gemm.hpp.
#pragma once

#include <complex>

#include "penstock/gas/gas.hpp"
#include "penstock/gemm/distributed.hpp"

namespace penstock::gemm {

/// How the ranks of a team lie on ScaLAPACK's grid of processes; what BLACS keeps in a context.
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
/// matrices. sub(C) is m x n. Of a descriptor the context (its second number) is not looked at: `grid` stands for it.
/// Neither A nor B is read where alpha is 0, nor C where beta is.
///
/// Collective, with the same arguments on all ranks but for the arrays and their leading dimensions; the team has as
/// many ranks as the grid. Throws Error on every rank where an argument cannot be, or one has no memory. Where a
/// rank fails midway the team is revoked (see gas::Team).
///
/// Each element of the factors goes once from its owner's array into a block on the rank that multiplies it next to its
/// neighbours, and each of C back; `multiply` does the rest, on `threads` threads a rank. This takes the memory of the
/// sub-matrices once more.
///
/// T: float, double, or a complex of one.
template <class T>
DistributedTimes pgemm(const gas::Team& team, const ProcessGrid& grid, char op_a, char op_b, int m, int n, int k,
                       T alpha, const T* a, int ia, int ja, const int* desc_a, const T* b, int ib, int jb,
                       const int* desc_b, T beta, T* c, int ic, int jc, const int* desc_c, int threads = 1);

}  // namespace penstock::gemm

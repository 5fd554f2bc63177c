// ScaLAPACK's block-cyclic matrices: which elements of a sub-matrix lie on a process, at which positions, and their
// copies into matrices in one block a rank and back.
#pragma once

#include <cstdint>

#include "penstock/gas/gas.hpp"
#include "penstock/gemm/operand.hpp"
#include "penstock/gemm/scalapack.hpp"
#include "penstock/layout/layout.hpp"

namespace penstock::gemm {

/// The rows, or the columns, of a sub-matrix that one process has.
class CyclicRange {
 public:
  /// `count` indices from `first` (from 0) on, of a dimension that is dealt out in blocks to `owners` processes in
  /// turn, beginning with number `first_owner`; seen from number `me`.
  CyclicRange(std::int64_t first, std::int64_t count, std::int64_t block, int owners, int first_owner, int me);

  std::int64_t count() const noexcept { return count_; }

  /// Which positions of this process's array hold what it has of a range of the sub-matrix.
  Range positions(const Range& range) const;

  /// Where these lie in the range, `stride` bytes between neighbours, each of them as `inner`.
  layout::Layout in_range(const Range& range, std::int64_t stride, const layout::Layout& inner) const;

 private:
  /// Of the dimension as if it began with a block of process 0.
  std::int64_t index(std::int64_t of_range) const noexcept { return before_first_ + of_range; }

  std::int64_t before_first_;
  std::int64_t count_;
  gas::BlockCyclic dimension_;
  int me_;
  std::int64_t missing_;  // of this process's elements, those before the dimension's true beginning
};

/// A sub-matrix as one process has it: its array is in columns, `leading` elements apart.
struct CyclicMatrix {
  CyclicRange rows;
  CyclicRange columns;
  std::int64_t leading;
};

/// An array of the transposed sub-matrix, whose rows are its columns, in one block a rank. Collective.
template <class T>
GlobalMatrix<T> blocks_for(const gas::Team& team, const CyclicMatrix& matrix) {
  return GlobalMatrix<T>(team, {.extents = {matrix.columns.count(), matrix.rows.count()}});
}

/// Puts this process's elements where they belong in `blocks`. Returns when they are there.
template <class T>
void put_into(const gas::Team& team, const CyclicMatrix& matrix, const T* elements, GlobalMatrix<T>& blocks);

/// Gets this process's elements from where they are in `blocks`.
template <class T>
void get_from(const gas::Team& team, const CyclicMatrix& matrix, T* elements, GlobalMatrix<T>& blocks);

}  // namespace penstock::gemm

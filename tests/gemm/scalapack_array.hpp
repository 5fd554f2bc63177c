// ScaLAPACK's distribution by its definition: who has an element and where (ScaLAPACK Users' Guide, section 4.3.2).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <vector>

#include "tests/gemm/reference.hpp"

namespace penstock::gemm {

/// The block-cyclic lie of a matrix, and the sub-matrix of it that is multiplied.
struct CyclicLie {
  int mb = 1;
  int nb = 1;
  int first_row = 0;  ///< of the grid
  int first_column = 0;
  int i = 1;  ///< of the sub-matrix
  int j = 1;
  int rows_beyond = 0;  ///< of the matrix, behind the sub-matrix
  int columns_beyond = 0;
  int leading_beyond = 0;  ///< of the leading dimension, above the least
};

/// What one process has of a matrix, with something else in the gaps of its columns.
template <class T>
struct CyclicArray {
  std::array<int, 9> descriptor{};
  std::vector<T> elements;
};

/// Calls visit(i, j, place) for the elements of an array that process (row, column) has; `place` is in its array.
template <class Visit>
void for_each_element(const std::array<int, 9>& d, int rows, int columns, int row, int column, const Visit& visit) {
  for (int j = 0; j < d[3]; ++j) {
    for (int i = 0; i < d[2]; ++i) {
      if ((i / d[4] + d[6]) % rows == row && (j / d[5] + d[7]) % columns == column) {
        const int local_i = i / (d[4] * rows) * d[4] + i % d[4];
        const int local_j = j / (d[5] * columns) * d[5] + j % d[5];
        visit(i, j,
              static_cast<std::size_t>(local_j) * static_cast<std::size_t>(d[8]) + static_cast<std::size_t>(local_i));
      }
    }
  }
}

/// A matrix that has `sub` as the sub-matrix that is meant, and `filler` elsewhere.
template <class T>
CyclicArray<T> deal_out(const Matrix<T>& sub, const CyclicLie& lie, T filler, int context, int rows, int columns,
                        int row, int column) {
  CyclicArray<T> array;
  std::array<int, 9>& d = array.descriptor;
  d = {1,
       context,
       lie.i - 1 + static_cast<int>(sub.rows) + lie.rows_beyond,
       lie.j - 1 + static_cast<int>(sub.columns) + lie.columns_beyond,
       lie.mb,
       lie.nb,
       lie.first_row,
       lie.first_column,
       1};
  // No process has more than whole cycles of all.
  d[8] = (d[2] / (lie.mb * rows) + 1) * lie.mb + lie.leading_beyond;
  const int width = (d[3] / (lie.nb * columns) + 1) * lie.nb;
  array.elements.assign(static_cast<std::size_t>(d[8]) * static_cast<std::size_t>(width), filler);
  for_each_element(d, rows, columns, row, column, [&](int i, int j, std::size_t place) {
    const int sub_i = i - (lie.i - 1);
    const int sub_j = j - (lie.j - 1);
    if (sub_i >= 0 && sub_i < sub.rows && sub_j >= 0 && sub_j < sub.columns) {
      array.elements[place] = sub(sub_i, sub_j);
    }
  });
  return array;
}

/// A lie drawn at random, some of its blocks larger than the matrix, most of them not square.
inline CyclicLie random_lie(int rows, int columns, std::mt19937& random) {
  const auto draw = [&](int below) { return static_cast<int>(random() % static_cast<unsigned>(below)); };
  return {.mb = 1 + draw(9),
          .nb = 1 + draw(40),
          .first_row = draw(rows),
          .first_column = draw(columns),
          .i = 1 + draw(12),
          .j = 1 + draw(12),
          .rows_beyond = draw(6),
          .columns_beyond = draw(6),
          .leading_beyond = draw(4)};
}

}  // namespace penstock::gemm

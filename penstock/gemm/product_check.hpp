// The check of a product of matrices on the ranks of a team, without another multiply. Included by gemm.hpp.
#pragma once

#include <complex>
#include <cstdint>
#include <functional>

#include "penstock/gemm/blas.hpp"
#include "penstock/gemm/distributed.hpp"

#pragma GCC visibility push(default)

namespace penstock::gemm {

/// An element of a matrix, by its row and column.
using ElementAt = std::function<std::complex<double>(std::int64_t row, std::int64_t column)>;

/// A product C = alpha op(A) op(B) + beta C' of matrices of which each rank knows all elements, for instance by a
/// formula. C' is C before the multiply.
struct KnownProduct {
  Op op_a = Op::none;
  Op op_b = Op::none;
  Scalars scalars = {};
  std::int64_t k = 0;  ///< columns of op(A), and rows of op(B)
  ElementAt a;         ///< of A, not of op(A)
  ElementAt b;
  ElementAt c_before;
};

/// The check of R. Freivalds (1977) of this rank's elements of C: C x = alpha op(A) (op(B) x) + beta C' x, row by row,
/// for the vector with the elements `x(column)`. Returns the number of this rank's rows in which the two sides differ.
/// Not collective.
///
/// The sides are compared exactly: the matrices, the scalars and x must be whole numbers whose sums stay below 2^53. A
/// wrong row is not noticed where its errors, times x, add up to 0; with a random x that is unlikely. The check takes k
/// steps for each row and each column of this rank; a product would take k steps for each element.
template <class T>
std::int64_t wrong_rows(const GlobalMatrix<T>& c, const KnownProduct& product,
                        const std::function<double(std::int64_t column)>& x);

}  // namespace penstock::gemm

#pragma GCC visibility pop

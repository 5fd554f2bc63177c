// Products of matrices of small integers, which floating point holds exactly, by the definition.
#pragma once

#include <complex>
#include <cstdint>
#include <random>
#include <type_traits>
#include <vector>

#include "penstock/gemm/gemm.hpp"

namespace penstock::gemm {

/// A matrix in C order.
template <class T>
struct Matrix {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::vector<T> elements = {};

  Matrix(std::int64_t of_rows, std::int64_t of_columns)
      : rows(of_rows), columns(of_columns), elements(static_cast<std::size_t>(of_rows * of_columns)) {}
  T& operator()(std::int64_t i, std::int64_t j) { return elements[static_cast<std::size_t>(i * columns + j)]; }
  const T& operator()(std::int64_t i, std::int64_t j) const {
    return elements[static_cast<std::size_t>(i * columns + j)];
  }
};

template <class T>
constexpr bool is_complex_number = !std::is_floating_point_v<T>;

template <class T>
Matrix<T> random_integers(std::int64_t rows, std::int64_t columns, std::mt19937& random) {
  Matrix<T> matrix(rows, columns);
  const auto draw = [&] { return static_cast<double>(random() % 9) - 4; };
  for (T& element : matrix.elements) {
    if constexpr (is_complex_number<T>) {
      using Real = typename T::value_type;
      element = T(static_cast<Real>(draw()), static_cast<Real>(draw()));
    } else {
      element = static_cast<T>(draw());
    }
  }
  return matrix;
}

/// An element of op(matrix).
template <class T>
T element_of(const Matrix<T>& matrix, Op op, std::int64_t i, std::int64_t j) {
  if (op == Op::none) {
    return matrix(i, j);
  }
  if constexpr (is_complex_number<T>) {
    return op == Op::conjugate_transpose ? std::conj(matrix(j, i)) : matrix(j, i);
  } else {
    return matrix(j, i);
  }
}

template <class T>
T scalar_of(std::complex<double> value) {
  if constexpr (is_complex_number<T>) {
    return T(value);
  } else {
    return static_cast<T>(value.real());
  }
}

/// alpha op(A) op(B) + beta C.
template <class T>
Matrix<T> reference(const Scalars& scalars, const Matrix<T>& a, Op op_a, const Matrix<T>& b, Op op_b,
                    const Matrix<T>& c) {
  Matrix<T> result = c;
  const std::int64_t depth = op_a == Op::none ? a.columns : a.rows;
  for (std::int64_t i = 0; i < c.rows; ++i) {
    for (std::int64_t j = 0; j < c.columns; ++j) {
      T sum{};
      for (std::int64_t k = 0; k < depth; ++k) {
        sum += element_of(a, op_a, i, k) * element_of(b, op_b, k, j);
      }
      result(i, j) = scalar_of<T>(scalars.alpha) * sum + scalar_of<T>(scalars.beta) * c(i, j);
    }
  }
  return result;
}

}  // namespace penstock::gemm

#include "penstock/gemm/product_check.hpp"

#include <map>
#include <set>
#include <vector>

namespace penstock::gemm {
namespace {

/// An element of op(matrix).
std::complex<double> element_of_op(const ElementAt& matrix, Op op, std::int64_t i, std::int64_t j) {
  const std::complex<double> value = op == Op::none ? matrix(i, j) : matrix(j, i);
  return op == Op::conjugate_transpose ? std::conj(value) : value;
}

}  // namespace

#pragma GCC visibility push(default)  // its instances are in the library
template <class T>
std::int64_t wrong_rows(const GlobalMatrix<T>& c, const KnownProduct& product,
                        const std::function<double(std::int64_t column)>& x) {
  std::set<std::int64_t> columns;
  std::map<std::int64_t, std::complex<double>> found;     // by row: what C x is
  std::map<std::int64_t, std::complex<double>> expected;  // and what it must be, with beta C' x first
  c.for_each_local([&](const gas::Index<2>& at, const T& value) {
    columns.insert(at[1]);
    found[at[0]] += std::complex<double>(value) * x(at[1]);
    expected[at[0]] += product.scalars.beta * product.c_before(at[0], at[1]) * x(at[1]);
  });
  std::vector<std::complex<double>> u(static_cast<std::size_t>(product.k));  // op(B) x
  for (std::int64_t k = 0; k < product.k; ++k) {
    for (const std::int64_t j : columns) {
      u[static_cast<std::size_t>(k)] += element_of_op(product.b, product.op_b, k, j) * x(j);
    }
  }
  std::int64_t wrong = 0;
  for (const auto& [row, sum] : found) {
    std::complex<double> dot = 0;
    for (std::int64_t k = 0; k < product.k; ++k) {
      dot += element_of_op(product.a, product.op_a, row, k) * u[static_cast<std::size_t>(k)];
    }
    wrong += sum != expected[row] + product.scalars.alpha * dot ? 1 : 0;
  }
  return wrong;
}
#pragma GCC visibility pop

template std::int64_t wrong_rows(const GlobalMatrix<float>& c, const KnownProduct& product,
                                 const std::function<double(std::int64_t column)>& x);
template std::int64_t wrong_rows(const GlobalMatrix<double>& c, const KnownProduct& product,
                                 const std::function<double(std::int64_t column)>& x);
template std::int64_t wrong_rows(const GlobalMatrix<std::complex<float>>& c, const KnownProduct& product,
                                 const std::function<double(std::int64_t column)>& x);
template std::int64_t wrong_rows(const GlobalMatrix<std::complex<double>>& c, const KnownProduct& product,
                                 const std::function<double(std::int64_t column)>& x);

}  // namespace penstock::gemm

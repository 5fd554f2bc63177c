// Made-up matrices of `penstock gemm --size`, and the check of their product.
#pragma once

#include <fmt/format.h>

#include <complex>
#include <cstdint>
#include <type_traits>

#include "penstock/cli/gemm/gemm_options.hpp"
#include "penstock/gas/gas.hpp"
#include "penstock/gemm/gemm.hpp"

namespace penstock::cli {

/// An element of a made-up sequence in two directions: a whole number from -4 to 4, so that products of any size are
/// exact. The mixing is SplitMix64's (Steele, Lea, Flood 2014).
inline double made_up(std::uint64_t sequence, std::int64_t i, std::int64_t j) noexcept {
  std::uint64_t x = sequence * 0x9E3779B97F4A7C15 + static_cast<std::uint64_t>(i) * 0xBF58476D1CE4E5B9 +
                    static_cast<std::uint64_t>(j) * 0x94D049BB133111EB;
  x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9;
  x = (x ^ x >> 27) * 0x94D049BB133111EB;
  return static_cast<double>((x ^ x >> 31) % 9) - 4;
}

template <class T>
inline constexpr bool is_complex = !std::is_floating_point_v<T>;

/// An element of a made-up matrix, of a complex one from two sequences.
template <class T>
T element(std::uint64_t matrix, std::int64_t i, std::int64_t j) noexcept {
  if constexpr (is_complex<T>) {
    using Real = typename T::value_type;
    return T(static_cast<Real>(made_up(2 * matrix, i, j)), static_cast<Real>(made_up(2 * matrix + 1, i, j)));
  } else {
    return static_cast<T>(made_up(2 * matrix, i, j));
  }
}

template <class T>
T scalar(std::complex<double> value) noexcept {
  if constexpr (is_complex<T>) {
    return T(value);
  } else {
    return static_cast<T>(value.real());
  }
}

inline constexpr std::uint64_t matrix_a = 1;
inline constexpr std::uint64_t matrix_b = 2;
inline constexpr std::uint64_t matrix_c = 3;
/// The sequence of the check's vector, which none of the matrices has.
inline constexpr std::uint64_t vector_x = 2 * matrix_c + 2;

/// The product that C is to hold, for the check of it.
template <class T>
gemm::KnownProduct known_product(const GemmOptions& options) {
  const auto elements_of = [](std::uint64_t matrix) {
    return [matrix](std::int64_t i, std::int64_t j) { return std::complex<double>(element<T>(matrix, i, j)); };
  };
  return {.op_a = options.files.op_a,
          .op_b = options.files.op_b,
          .scalars = options.files.scalars,
          .k = options.size[2],
          .a = elements_of(matrix_a),
          .b = elements_of(matrix_b),
          .c_before = elements_of(matrix_c)};
}

template <class T>
void fill(gemm::GlobalMatrix<T>& matrix, std::uint64_t number) {
  matrix.for_each_local([&](const gas::Index<2>& at, T& value) { value = element<T>(number, at[0], at[1]); });
}

/// The bytes of A, B and C.
inline std::uint64_t matrix_bytes(const GemmOptions& options) {
  const auto m = static_cast<double>(options.size[0]);
  const auto n = static_cast<double>(options.size[1]);
  const auto k = static_cast<double>(options.size[2]);
  return static_cast<std::uint64_t>((m * k + k * n + m * n) * static_cast<double>(npy::element_bytes(options.type)));
}

template <class T>
struct MadeUpMatrices {
  gemm::GlobalMatrix<T> a;
  gemm::GlobalMatrix<T> b;
  gemm::GlobalMatrix<T> c;
};

/// Collective: A, B and C as --size, --block and the operations have them. Throws Error on every rank where the memory
/// has no room for them.
template <class T>
MadeUpMatrices<T> make_matrices(const gas::Team& team, const GemmOptions& options) {
  const auto [m, n, k] = options.size;
  const auto shape = [&](std::int64_t rows, std::int64_t columns, gemm::Op op) {
    using Extents = gas::Index<2>;
    return gas::ArrayShape<2>{.extents = op == gemm::Op::none ? Extents{rows, columns} : Extents{columns, rows},
                              .blocks = {options.block, options.block}};
  };
  team.require_memory(fmt::format("matrices for {} x {} x {}", m, n, k),
                      matrix_bytes(options) / static_cast<std::uint64_t>(team.size()), 0);
  return {.a = gemm::GlobalMatrix<T>(team, shape(m, k, options.files.op_a)),
          .b = gemm::GlobalMatrix<T>(team, shape(k, n, options.files.op_b)),
          .c = gemm::GlobalMatrix<T>(team, shape(m, n, gemm::Op::none))};
}

/// The rows of this rank's part of C, after a multiply, that are not what they must be.
template <class T>
std::int64_t wrong_rows_of(const gemm::GlobalMatrix<T>& c, const GemmOptions& options) {
  return gemm::wrong_rows(c, known_product<T>(options), [](std::int64_t j) { return made_up(vector_x, j, 0); });
}

}  // namespace penstock::cli

// ScaLAPACK's arguments are checked; its matrices are brought into blocks, multiplied there, and C is brought back.
//
// ScaLAPACK's arrays are in columns, ours in rows: what we multiply is the transposed product, C' = op(B)' op(A)'.
#include "penstock/gemm/scalapack.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>
#include <string>
#include <type_traits>

#include "penstock/base/base.hpp"
#include "penstock/gemm/block_cyclic.hpp"

namespace penstock::gemm {
namespace {

// The places of a descriptor (ScaLAPACK Users' Guide, section 4.3.3).
enum DescriptorPlace { type_at, context_at, m_at, n_at, mb_at, nb_at, first_row_at, first_column_at, leading_at };

Op op_of(char name, char matrix) {
  switch (std::toupper(static_cast<unsigned char>(name))) {
    case 'N':
      return Op::none;
    case 'T':
      return Op::transpose;
    case 'C':
      return Op::conjugate_transpose;
    default:
      throw Error(fmt::format("p?gemm: op({}) is '{}', and must be 'N', 'T' or 'C'", matrix, name));
  }
}

/// A sub-matrix as the caller names it.
struct Named {
  char name;
  int rows;
  int columns;
  int i;
  int j;
  const int* descriptor;
};

void require(bool holds, const Named& matrix, const std::string& what) {
  if (!holds) {
    throw Error(fmt::format("p?gemm: {} of {}", what, matrix.name));
  }
}

/// What is wrong with a matrix on this rank throws.
CyclicMatrix matrix_of(const Named& sub, const ProcessGrid& grid, int rank) {
  const int* d = sub.descriptor;
  require(d[type_at] == 1, sub,
          fmt::format("type {} of the descriptor is not 1, a dense block-cyclic matrix,", d[type_at]));
  require(d[m_at] >= 0 && d[n_at] >= 0, sub, fmt::format("{} x {} elements cannot be the extent", d[m_at], d[n_at]));
  require(d[mb_at] >= 1 && d[nb_at] >= 1, sub, fmt::format("{} x {} cannot be the blocks", d[mb_at], d[nb_at]));
  require(d[first_row_at] >= 0 && d[first_row_at] < grid.rows && d[first_column_at] >= 0 &&
              d[first_column_at] < grid.columns,
          sub,
          fmt::format("the first block is at process ({}, {}), which the grid of {} x {} has not, says the descriptor",
                      d[first_row_at], d[first_column_at], grid.rows, grid.columns));
  require(sub.i >= 1 && sub.j >= 1 && sub.rows <= d[m_at] - (sub.i - 1) && sub.columns <= d[n_at] - (sub.j - 1), sub,
          fmt::format("the {} x {} elements from ({}, {}) on are not within the {} x {}", sub.rows, sub.columns, sub.i,
                      sub.j, d[m_at], d[n_at]));
  const CyclicRange all_rows(0, d[m_at], d[mb_at], grid.rows, d[first_row_at], grid.row_of(rank));
  const std::int64_t rows_here = all_rows.positions({0, d[m_at]}).extent;
  require(d[leading_at] >= std::max<std::int64_t>(rows_here, 1), sub,
          fmt::format("rank {} has {} rows, more than the leading dimension {}", rank, rows_here, d[leading_at]));
  return {.rows = {sub.i - 1, sub.rows, d[mb_at], grid.rows, d[first_row_at], grid.row_of(rank)},
          .columns = {sub.j - 1, sub.columns, d[nb_at], grid.columns, d[first_column_at], grid.column_of(rank)},
          .leading = d[leading_at]};
}

/// What must be the same on all ranks.
std::string text_of(const Named& sub) {
  const int* d = sub.descriptor;
  return fmt::format(", {} from ({}, {}) of {} x {} in {} x {} from process ({}, {})", sub.name, sub.i, sub.j, d[m_at],
                     d[n_at], d[mb_at], d[nb_at], d[first_row_at], d[first_column_at]);
}

template <class T>
std::string text_of(T value) {
  if constexpr (std::is_floating_point_v<T>) {
    return fmt::format("{}", value);
  } else {
    return fmt::format("{}+{}i", value.real(), value.imag());
  }
}

/// C = beta C, which no other rank is needed for.
template <class T>
void scale_here(const CyclicMatrix& matrix, T beta, T* elements) {
  const Range rows = matrix.rows.positions({0, matrix.rows.count()});
  const Range columns = matrix.columns.positions({0, matrix.columns.count()});
  scale(npy::data_type<T>(), columns.extent, rows.extent, std::complex<double>(beta),
        reinterpret_cast<std::byte*>(elements + columns.lower * matrix.leading + rows.lower), matrix.leading);
}

}  // namespace

#pragma GCC visibility push(default)  // its instances are in the library
template <class T>
DistributedTimes pgemm(const gas::Team& team, const ProcessGrid& grid, char op_a, char op_b, int m, int n, int k,
                       T alpha, const T* a, int ia, int ja, const int* desc_a, const T* b, int ib, int jb,
                       const int* desc_b, T beta, T* c, int ic, int jc, const int* desc_c, int threads) {
  const double begin_s = seconds();
  std::optional<CyclicMatrix> matrix_a;
  std::optional<CyclicMatrix> matrix_b;
  std::optional<CyclicMatrix> matrix_c;
  Op first = Op::none;
  Op second = Op::none;
  std::string text;
  team.together([&] {
    if (grid.rows < 1 || grid.columns < 1 || std::int64_t{grid.rows} * grid.columns != team.size()) {
      throw Error(
          fmt::format("p?gemm: a grid of {} x {} processes for {} ranks", grid.rows, grid.columns, team.size()));
    }
    first = op_of(op_a, 'A');
    second = op_of(op_b, 'B');
    if (m < 0 || n < 0 || k < 0) {
      throw Error(fmt::format("p?gemm: m = {}, n = {}, k = {}: none may be negative", m, n, k));
    }
    if (threads < 1) {
      throw Error(fmt::format("p?gemm: {} threads a rank: at least 1 is needed", threads));
    }
    const bool a_turned = first != Op::none;
    const bool b_turned = second != Op::none;
    const Named sub_a{'A', a_turned ? k : m, a_turned ? m : k, ia, ja, desc_a};
    const Named sub_b{'B', b_turned ? n : k, b_turned ? k : n, ib, jb, desc_b};
    const Named sub_c{'C', m, n, ic, jc, desc_c};
    matrix_a = matrix_of(sub_a, grid, team.rank());
    matrix_b = matrix_of(sub_b, grid, team.rank());
    matrix_c = matrix_of(sub_c, grid, team.rank());
    text = fmt::format("{} x {}{}, {}{} {} x {} x {}, {}, {}", grid.rows, grid.columns,
                       grid.order == ProcessGrid::Order::by_rows ? "" : " by columns", op_a, op_b, m, n, k,
                       text_of(alpha), text_of(beta)) +
           text_of(sub_a) + text_of(sub_b) + text_of(sub_c);
  });
  team.agree_on("p?gemm", text);
  DistributedTimes times;
  if (m == 0 || n == 0) {
    return times;
  }
  if (k == 0 || alpha == T{}) {
    scale_here(*matrix_c, beta, c);
    return times;
  }
  team.run_or_revoke([&] {
    GlobalMatrix<T> blocks_a = blocks_for<T>(team, *matrix_a);
    GlobalMatrix<T> blocks_b = blocks_for<T>(team, *matrix_b);
    GlobalMatrix<T> blocks_c = blocks_for<T>(team, *matrix_c);
    put_into(team, *matrix_a, a, blocks_a);
    put_into(team, *matrix_b, b, blocks_b);
    if (beta != T{}) {
      put_into(team, *matrix_c, c, blocks_c);
    }
    const double there_s = seconds();
    // Its own barriers stand between the puts above and the gets below.
    times = multiply(team, second, first, alpha, blocks_b, blocks_a, beta, blocks_c, {.threads = threads});
    const double back_s = seconds();
    get_from(team, *matrix_c, c, blocks_c);
    team.barrier();  // nobody reads this rank's blocks any more
    const double end_s = seconds();
    times.redistribute_s += there_s - begin_s + end_s - back_s;
    times.total_s = end_s - begin_s;
  });
  return times;
}
#pragma GCC visibility pop

template DistributedTimes pgemm<float>(const gas::Team&, const ProcessGrid&, char, char, int, int, int, float,
                                       const float*, int, int, const int*, const float*, int, int, const int*, float,
                                       float*, int, int, const int*, int);
template DistributedTimes pgemm<double>(const gas::Team&, const ProcessGrid&, char, char, int, int, int, double,
                                        const double*, int, int, const int*, const double*, int, int, const int*,
                                        double, double*, int, int, const int*, int);
template DistributedTimes pgemm<std::complex<float>>(const gas::Team&, const ProcessGrid&, char, char, int, int, int,
                                                     std::complex<float>, const std::complex<float>*, int, int,
                                                     const int*, const std::complex<float>*, int, int, const int*,
                                                     std::complex<float>, std::complex<float>*, int, int, const int*,
                                                     int);
template DistributedTimes pgemm<std::complex<double>>(const gas::Team&, const ProcessGrid&, char, char, int, int, int,
                                                      std::complex<double>, const std::complex<double>*, int, int,
                                                      const int*, const std::complex<double>*, int, int, const int*,
                                                      std::complex<double>, std::complex<double>*, int, int, const int*,
                                                      int);

}  // namespace penstock::gemm

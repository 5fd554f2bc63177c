// A multiply across ranks: what is not in blocks is brought there, an algorithm is chosen and run, C is brought back.
#include "penstock/gemm/distributed.hpp"

#include <fmt/format.h>

#include <complex>
#include <optional>
#include <string>

#include "penstock/base/base.hpp"
#include "penstock/gemm/multiply_by_shifts.hpp"
#include "penstock/gemm/operand.hpp"
#include "penstock/gemm/stationary.hpp"

namespace penstock::gemm {
namespace {

using gas::Index;

template <class T>
bool is_in_blocks(const GlobalMatrix<T>& matrix) {
  for (std::size_t d = 0; d < 2; ++d) {
    if (matrix.blocks()[d] * matrix.grid()[d] < matrix.extents()[d]) {
      return false;
    }
  }
  return true;
}

/// Collective: a matrix of the same size in one block a rank; its elements are zeros.
template <class T>
GlobalMatrix<T> in_blocks_like(const gas::Team& team, const GlobalMatrix<T>& matrix) {
  const Index<2> grid = matrix.grid();
  return GlobalMatrix<T>(team,
                         {.extents = matrix.extents(), .grid = {static_cast<int>(grid[0]), static_cast<int>(grid[1])}});
}

/// Each rank reads what it owns of `to`.
template <class T>
void copy(const gas::Team& team, GlobalMatrix<T>& from, GlobalMatrix<T>& to) {
  for (const gas::Box<2>& box : to.boxes(team.rank())) {
    from.get(box, to.local().first(static_cast<std::size_t>(box.count())));
  }
}

/// Each rank writes what it owns of `from`.
template <class T>
void copy_back(const gas::Team& team, GlobalMatrix<T>& from, GlobalMatrix<T>& to) {
  for (const gas::Box<2>& box : from.boxes(team.rank())) {
    to.put(box, from.local().first(static_cast<std::size_t>(box.count())));
  }
}

/// Collective: also meets, so that what the ranks have written to A, B and C is there.
template <class T>
void check(const gas::Team& team, const Operand<T>& a, const Operand<T>& b, const GlobalMatrix<T>& c, T alpha, T beta,
           int threads) {
  std::string text;
  team.together([&] {
    if (a.extent(1) != b.extent(0) || a.extent(0) != c.extents()[0] || b.extent(1) != c.extents()[1]) {
      throw Error(
          fmt::format("op(A) is {} x {}, op(B) {} x {} and C {} x {}: A's rows and B's columns must be those of C, "
                      "and A's columns as many as B's rows",
                      a.extent(0), a.extent(1), b.extent(0), b.extent(1), c.extents()[0], c.extents()[1]));
    }
    if (threads < 1) {
      throw Error(fmt::format("a multiply on {} threads a rank: at least 1 is needed", threads));
    }
    const std::complex<double> by(alpha);
    const std::complex<double> keep(beta);
    text = fmt::format("{} x {} by {}{}, {}{}, alpha {}{:+}i, beta {}{:+}i", c.extents()[0], c.extents()[1],
                       a.extent(1), a.is_turned() ? ", A turned" : "", b.is_turned() ? "B turned, " : "", sizeof(T),
                       by.real(), by.imag(), keep.real(), keep.imag());
  });
  team.agree_on("multiply", text);
}

/// What `multiply` does, as far as a rank does it by itself.
template <class T>
DistributedTimes multiply_here(const gas::Team& team, Op op_a, Op op_b, T alpha, GlobalMatrix<T>& a, GlobalMatrix<T>& b,
                               T beta, GlobalMatrix<T>& c, const MultiplyOptions& options) {
  DistributedTimes times;
  const double begin_s = seconds();
  check(team, Operand<T>(a, op_a), Operand<T>(b, op_b), c, alpha, beta, options.threads);
  const double met_s = seconds();
  times.wait_s = met_s - begin_s;
  std::optional<GlobalMatrix<T>> block_a;
  std::optional<GlobalMatrix<T>> block_b;
  std::optional<GlobalMatrix<T>> block_c;
  const auto bring = [&](GlobalMatrix<T>& matrix, std::optional<GlobalMatrix<T>>& blocks, bool is_read) {
    if (!is_in_blocks(matrix)) {
      blocks.emplace(in_blocks_like(team, matrix));
      if (is_read) {
        copy(team, matrix, *blocks);
      }
    }
  };
  bring(a, block_a, true);
  bring(b, block_b, true);
  bring(c, block_c, beta != T{});
  GlobalMatrix<T>& result = block_c ? *block_c : c;
  if (block_a || block_b || block_c) {
    team.barrier();
  }
  times.redistribute_s = seconds() - met_s;
  {
    const SerialBlas serial(options.threads);
    ThreadPool pool(options.threads);
    const Operand<T> left(block_a ? *block_a : a, op_a);
    const Operand<T> right(block_b ? *block_b : b, op_b);
    const CannonGrid::Size size{result.extents()[0], result.extents()[1], left.extent(1)};
    const std::array<int, 2> grid_of_c{static_cast<int>(result.grid()[0]), static_cast<int>(result.grid()[1])};
    times.plan = plan_multiply(team, npy::data_type<T>(), size.m, size.n, size.k, grid_of_c, options);
    const auto [layers, rows, columns] = times.plan.grid;
    if (times.plan.algorithm == Algorithm::stationary) {
      Stationary<T>(team, left, right, result, alpha, beta, pool).run(times);
    } else if (times.plan.algorithm == Algorithm::cannon) {
      const CannonGrid grid({1, rows, columns}, size, result.blocks()[0], result.blocks()[1], times.plan.depth);
      multiply_by_shifts(team, grid, left, right, alpha, beta, result, pool, times);
    } else {
      const CannonGrid grid({layers, rows, columns}, size, times.plan.depth);
      multiply_by_shifts(team, grid, left, right, alpha, beta, result, pool, times);
    }
  }
  const double done_s = seconds();
  team.barrier();  // nobody reads this rank's A and B any more
  times.wait_s += seconds() - done_s;
  if (block_c) {
    const double back_s = seconds();
    copy_back(team, *block_c, c);
    team.barrier();
    times.redistribute_s += seconds() - back_s;
  }
  times.total_s = seconds() - begin_s;
  return times;
}

}  // namespace

#pragma GCC visibility push(default)  // its instances are in the library
template <class T>
DistributedTimes multiply(const gas::Team& team, Op op_a, Op op_b, T alpha, GlobalMatrix<T>& a, GlobalMatrix<T>& b,
                          T beta, GlobalMatrix<T>& c, const MultiplyOptions& options) {
  return team.run_or_revoke([&] { return multiply_here(team, op_a, op_b, alpha, a, b, beta, c, options); });
}
#pragma GCC visibility pop

template DistributedTimes multiply<float>(const gas::Team&, Op, Op, float, GlobalMatrix<float>&, GlobalMatrix<float>&,
                                          float, GlobalMatrix<float>&, const MultiplyOptions&);
template DistributedTimes multiply<double>(const gas::Team&, Op, Op, double, GlobalMatrix<double>&,
                                           GlobalMatrix<double>&, double, GlobalMatrix<double>&,
                                           const MultiplyOptions&);
template DistributedTimes multiply<std::complex<float>>(const gas::Team&, Op, Op, std::complex<float>,
                                                        GlobalMatrix<std::complex<float>>&,
                                                        GlobalMatrix<std::complex<float>>&, std::complex<float>,
                                                        GlobalMatrix<std::complex<float>>&, const MultiplyOptions&);
template DistributedTimes multiply<std::complex<double>>(const gas::Team&, Op, Op, std::complex<double>,
                                                         GlobalMatrix<std::complex<double>>&,
                                                         GlobalMatrix<std::complex<double>>&, std::complex<double>,
                                                         GlobalMatrix<std::complex<double>>&, const MultiplyOptions&);

}  // namespace penstock::gemm

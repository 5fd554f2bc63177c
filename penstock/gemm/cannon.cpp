#include "penstock/gemm/cannon.hpp"

#include <algorithm>
#include <complex>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/gemm/layer_sum.hpp"
#include "penstock/gemm/shifts.hpp"

namespace penstock::gemm {
namespace {

/// What this rank makes of C.
struct Tile {
  std::byte* data;
  std::int64_t leading;
};

template <class T>
class Worker {
 public:
  Worker(const gas::Team& team, const WorkGrid& grid, Operand<T>& a, Operand<T>& b, Crew& crew)
      : team_(team), grid_(grid), a_operand_(a), b_operand_(b), crew_(crew), nodes_(team.placement().domains) {}

  void run(T alpha, T beta, const Tile& tile, DistributedTimes& times) {
    Shifts<T> a(team_, Factor::a, grid_, a_operand_, nodes_);
    Shifts<T> b(team_, Factor::b, grid_, b_operand_, nodes_);
    const auto advance = [&] {
      team_.poll();
      a.advance();
      b.advance();
    };
    const auto wait = [&](const auto& is_done) {
      const double begin_s = seconds();
      // Each look is at many things: no spinning beyond a few.
      for (Backoff backoff(20); !is_done(); backoff.pause()) {
        advance();
      }
      times.wait_s += seconds() - begin_s;
    };
    a.start();
    b.start();
    if (team_.rank() < grid_.workers()) {
      T factor = beta;
      for (int step = 0; step < grid_.steps(); ++step) {
        wait([&] { return a.has_arrived(step) && b.has_arrived(step); });
        const double begin_s = seconds();
        if (const std::int64_t depth = grid_.panel(team_.rank(), step).count; depth > 0) {
          multiply_panel(a.block(step), b.block(step), depth, {.alpha = alpha, .beta = factor}, tile, advance);
          factor = T{1};
        }
        a.release(step);
        b.release(step);
        times.multiply_s += seconds() - begin_s;
      }
      if (factor != T{1}) {  // no panel has brought it in
        scale(npy::data_type<T>(), rows(), columns(), std::complex<double>(factor), tile.data, tile.leading);
      }
    }
    wait([&] { return a.is_done() && b.is_done(); });
    times.fetched_bytes += a.received_bytes() + b.received_bytes();
    const double done_s = seconds();
    team_.barrier();  // nobody puts into these buffers any more
    times.wait_s += seconds() - done_s;
  }

  std::int64_t rows() const { return grid_.rows(team_.rank()).count; }
  std::int64_t columns() const { return grid_.columns(team_.rank()).count; }

 private:
  /// Each thread multiplies its share of the rows, or of the columns where these are more. The first one looks after
  /// what comes and goes now and then.
  void multiply_panel(const Block& a, const Block& b, std::int64_t depth, const Scalars& scalars, const Tile& tile,
                      const auto& look) {
    // Some milliseconds between two looks: about as long as a link is busy with what the system keeps for it. Blocks
    // of fewer rows or columns would cost OpenBLAS, which rearranges its factors for each call.
    constexpr std::int64_t least_edge = 256;
    constexpr double flops_between_looks = 2e8;
    const double column_flops = flops(npy::data_type<T>(), least_edge, 1, static_cast<double>(depth));
    const auto width = std::max(least_edge, static_cast<std::int64_t>(flops_between_looks / column_flops));
    const bool by_rows = rows() >= columns();
    const std::int64_t count = by_rows ? rows() : columns();
    crew_.run([&](int thread) {
      const std::int64_t first = count * thread / crew_.size();
      const std::int64_t share = count * (thread + 1) / crew_.size() - first;
      const Range my_rows = by_rows ? Range{first, share} : Range{0, rows()};
      const Range my_columns = by_rows ? Range{0, columns()} : Range{first, share};
      for (const Range& some_rows : cut(my_rows, my_rows.end() + 1, least_edge)) {
        for (const Range& some_columns : cut(my_columns, my_columns.end() + 1, width)) {
          std::byte* const c =
              tile.data + (some_rows.first * tile.leading + some_columns.first) * std::int64_t{sizeof(T)};
          gemm::multiply(npy::data_type<T>(), some_rows.count, some_columns.count, depth, scalars,
                         moved<T>(a, some_rows.first, 0), moved<T>(b, 0, some_columns.first), c, tile.leading);
          if (thread == 0) {
            look();
          }
        }
      }
    });
  }

  const gas::Team& team_;
  const WorkGrid& grid_;
  Operand<T>& a_operand_;
  Operand<T>& b_operand_;
  Crew& crew_;
  std::vector<int> nodes_;
};

}  // namespace

template <class T>
void multiply_by_shifts(const gas::Team& team, const WorkGrid& grid, Operand<T> a, Operand<T> b, T alpha, T beta,
                        GlobalMatrix<T>& c, Crew& crew, DistributedTimes& times) {
  Worker<T> worker(team, grid, a, b, crew);
  if (works_in_place(grid, c)) {
    worker.run(alpha, beta,
               {reinterpret_cast<std::byte*>(c.local().data()), std::max<std::int64_t>(worker.columns(), 1)}, times);
    return;
  }
  Memory tile;
  team.together([&] {
    if (team.rank() < grid.workers()) {
      tile = Memory(static_cast<std::size_t>(worker.rows() * worker.columns()) * sizeof(T));
    }
  });
  worker.run(alpha, T{}, {tile.data(), std::max<std::int64_t>(worker.columns(), 1)}, times);
  const double begin_s = seconds();
  add_tiles(team, grid, reinterpret_cast<const T*>(tile.data()), beta, c);
  times.sum_s += seconds() - begin_s;
}

template void multiply_by_shifts(const gas::Team&, const WorkGrid&, Operand<float>, Operand<float>, float, float,
                                 GlobalMatrix<float>&, Crew&, DistributedTimes&);
template void multiply_by_shifts(const gas::Team&, const WorkGrid&, Operand<double>, Operand<double>, double, double,
                                 GlobalMatrix<double>&, Crew&, DistributedTimes&);
template void multiply_by_shifts(const gas::Team&, const WorkGrid&, Operand<std::complex<float>>,
                                 Operand<std::complex<float>>, std::complex<float>, std::complex<float>,
                                 GlobalMatrix<std::complex<float>>&, Crew&, DistributedTimes&);
template void multiply_by_shifts(const gas::Team&, const WorkGrid&, Operand<std::complex<double>>,
                                 Operand<std::complex<double>>, std::complex<double>, std::complex<double>,
                                 GlobalMatrix<std::complex<double>>&, Crew&, DistributedTimes&);

}  // namespace penstock::gemm

#include "penstock/gemm/multiply_by_shifts.hpp"

#include <algorithm>
#include <complex>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/base/trace.hpp"
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
  Worker(const gas::Team& team, const CannonGrid& grid, Operand<T>& a, Operand<T>& b, ThreadPool& pool)
      : team_(team), grid_(grid), a_operand_(a), b_operand_(b), pool_(pool), nodes_(team.placement().domains) {}

  void run(T alpha, T beta, const Tile& tile, DistributedTimes& times) {
    Shifts<T> a(team_, Factor::a, grid_, a_operand_, nodes_);
    Shifts<T> b(team_, Factor::b, grid_, b_operand_, nodes_);
    const auto advance = [&] {
      team_.poll();
      a.advance();
      b.advance();
    };
    const auto wait = [&](int peer, const auto& is_done) {
      const trace::Span span("wait for panels", trace::Category::wait, {.peer = peer}, trace::Within::recorded);
      const double begin_s = seconds();
      // Each poll is of many things: no spinning beyond a few.
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
        const int sender = a.has_arrived(step) ? b.sender(step) : a.sender(step);
        wait(sender, [&] { return a.has_arrived(step) && b.has_arrived(step); });
        const double begin_s = seconds();
        if (grid_.panel(team_.rank(), step).extent > 0) {
          multiply_panel(a.panel(step), b.panel(step), grid_.panel(team_.rank(), step),
                         {.alpha = alpha, .beta = factor}, tile, advance);
          factor = T{1};
        }
        a.release(step);
        b.release(step);
        times.multiply_s += seconds() - begin_s;
      }
      if (factor != T{1}) {  // no panel has brought it in
        scale(npy::data_type<T>(), rows().extent, columns().extent, std::complex<double>(factor), tile.data,
              tile.leading);
      }
    }
    wait(a.is_done() ? b.receiver() : a.receiver(), [&] { return a.is_done() && b.is_done(); });
    times.fetched_bytes += a.received_bytes() + b.received_bytes();
    const double done_s = seconds();
    team_.barrier();  // nobody puts into these buffers any more
    times.wait_s += seconds() - done_s;
  }

  Range rows() const { return grid_.rows(team_.rank()); }
  Range columns() const { return grid_.columns(team_.rank()); }

 private:
  /// Each thread multiplies its share of the rows, or of the columns where these are more. The first one polls for
  /// what comes and goes now and then.
  void multiply_panel(const Panel& a, const Panel& b, const Range& depth, const Scalars& scalars, const Tile& tile,
                      const auto& poll) {
    // Some milliseconds between two polls: about as long as a link is busy with what the system keeps for it. Blocks
    // of fewer rows or columns would cost OpenBLAS, which rearranges its factors for each call.
    constexpr std::int64_t min_edge = 256;
    constexpr double flops_between_polls = 2e8;
    const double column_flops = flops(npy::data_type<T>(), min_edge, 1, static_cast<double>(depth.extent));
    const auto width = std::max(min_edge, static_cast<std::int64_t>(flops_between_polls / column_flops));
    const bool by_rows = rows().extent >= columns().extent;
    const Range shared = by_rows ? rows() : columns();
    pool_.run([&](int thread) {
      const trace::Span span("multiply", trace::Category::multiply, {}, trace::Within::recorded);
      const std::int64_t first = shared.extent * thread / pool_.size();
      const Range share{shared.lower + first, shared.extent * (thread + 1) / pool_.size() - first};
      for (const Range& some_rows : pieces(by_rows ? share : rows(), min_edge)) {
        for (const Range& some_columns : pieces(by_rows ? columns() : share, width)) {
          for (const PanelPart& a_part : a) {
            for (const PanelPart& b_part : b) {
              multiply_part(a_part, b_part, intersect(some_rows, a_part.rows), intersect(some_columns, b_part.columns),
                            depth, scalars, tile);
            }
          }
          if (thread == 0) {
            poll();
          }
        }
      }
    });
  }

  /// What two parts of panels of this depth give to rows and columns of C. What begins the panel brings beta in.
  void multiply_part(const PanelPart& a, const PanelPart& b, const Range& some_rows, const Range& some_columns,
                     const Range& depth, const Scalars& scalars, const Tile& tile) {
    const Range some_depth = intersect(a.columns, b.rows);
    if (some_rows.extent == 0 || some_columns.extent == 0 || some_depth.extent == 0) {
      return;
    }
    std::byte* const c =
        tile.data + ((some_rows.lower - rows().lower) * tile.leading + some_columns.lower - columns().lower) *
                        std::int64_t{sizeof(T)};
    gemm::multiply(npy::data_type<T>(), some_rows.extent, some_columns.extent, some_depth.extent,
                   {.alpha = scalars.alpha, .beta = some_depth.lower == depth.lower ? scalars.beta : 1.0},
                   moved<T>(a.block, some_rows.lower - a.rows.lower, some_depth.lower - a.columns.lower),
                   moved<T>(b.block, some_depth.lower - b.rows.lower, some_columns.lower - b.columns.lower), c,
                   tile.leading);
  }

  /// Of no more than `most` each.
  static std::vector<Range> pieces(const Range& range, std::int64_t most) { return cut(range, range.end() + 1, most); }

  const gas::Team& team_;
  const CannonGrid& grid_;
  Operand<T>& a_operand_;
  Operand<T>& b_operand_;
  ThreadPool& pool_;
  std::vector<int> nodes_;
};

}  // namespace

template <class T>
void multiply_by_shifts(const gas::Team& team, const CannonGrid& grid, Operand<T> a, Operand<T> b, T alpha, T beta,
                        GlobalMatrix<T>& c, ThreadPool& pool, DistributedTimes& times) {
  Worker<T> worker(team, grid, a, b, pool);
  if (works_in_place(grid, c)) {
    worker.run(alpha, beta,
               {reinterpret_cast<std::byte*>(c.local().data()), std::max<std::int64_t>(worker.columns().extent, 1)},
               times);
    return;
  }
  Memory tile;
  team.together([&] {
    if (team.rank() < grid.workers()) {
      tile = Memory(static_cast<std::size_t>(worker.rows().extent * worker.columns().extent) * sizeof(T));
    }
  });
  worker.run(alpha, T{}, {tile.data(), std::max<std::int64_t>(worker.columns().extent, 1)}, times);
  const double begin_s = seconds();
  add_tiles(team, grid, reinterpret_cast<const T*>(tile.data()), beta, c);
  times.sum_s += seconds() - begin_s;
}

template void multiply_by_shifts(const gas::Team&, const CannonGrid&, Operand<float>, Operand<float>, float, float,
                                 GlobalMatrix<float>&, ThreadPool&, DistributedTimes&);
template void multiply_by_shifts(const gas::Team&, const CannonGrid&, Operand<double>, Operand<double>, double, double,
                                 GlobalMatrix<double>&, ThreadPool&, DistributedTimes&);
template void multiply_by_shifts(const gas::Team&, const CannonGrid&, Operand<std::complex<float>>,
                                 Operand<std::complex<float>>, std::complex<float>, std::complex<float>,
                                 GlobalMatrix<std::complex<float>>&, ThreadPool&, DistributedTimes&);
template void multiply_by_shifts(const gas::Team&, const CannonGrid&, Operand<std::complex<double>>,
                                 Operand<std::complex<double>>, std::complex<double>, std::complex<double>,
                                 GlobalMatrix<std::complex<double>>&, ThreadPool&, DistributedTimes&);

}  // namespace penstock::gemm

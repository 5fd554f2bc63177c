// How long a team takes to exchange blocks between all its ranks, and how much of it hides behind a computation.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "penstock/gas/gas.hpp"
#include "penstock/lab/exchange/mpi_exchange.hpp"

namespace penstock::lab {

/// What to measure. All ranks give the same.
struct ExchangeOptions {
  std::vector<std::size_t> sizes;  ///< bytes from each rank to each
  int rounds = 100;                ///< samples of each way and size; fewer above 64 KiB
  /// How often the computation beside an exchange stops to see after it; 0: never, for a progress thread.
  int polls = 32;
  bool has_progress_thread = false;  ///< one on each rank, while our exchange runs beside a computation
  bool has_mpi = false;              ///< whether the team's ranks are those of MPI_COMM_WORLD, whose exchanges join in
  /// Told on rank 0 what was measured last.
  std::function<void(const std::string&)> progress;
};

/// An exchange with a computation of equal length between its start and the wait for its end, in medians.
struct Overlap {
  double exchange_s = 0;     ///< alone
  double computation_s = 0;  ///< alone
  double total_s = 0;        ///< of both

  /// 1 where the shorter is hidden, 2 where nothing is.
  double over_longer() const noexcept { return total_s / (exchange_s > computation_s ? exchange_s : computation_s); }
};

/// One way at one size. A sample is the time of the slowest rank.
struct ExchangeResult {
  std::string way;
  std::size_t bytes = 0;
  int samples = 0;  ///< each the mean of some repetitions in a row
  double min_s = 0;
  double median_s = 0;
  double p99_s = 0;
  std::optional<Overlap> overlap;  ///< of ways that can be begun and waited for
};

/// Collective: all ranks exchange blocks with all, by the team's exchange into a segment, MPI_Alltoall and
/// MPI_Ialltoall, on the same memory. Each way's result is compared with what was sent, then all are timed; of each
/// round every way takes its turn. Results on rank 0. Throws Error on every rank where what has arrived is wrong.
std::vector<ExchangeResult> measure_exchange(const gas::Team& team, const ExchangeOptions& options);

}  // namespace penstock::lab

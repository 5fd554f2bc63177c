// The time that a team takes to exchange blocks between all its ranks, and the part that is hidden behind a
// computation.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "penstock/gas/gas.hpp"
#include "penstock/lab/exchange/mpi_exchange.hpp"

namespace penstock::lab {

/// Options of the measurement; the same on all ranks.
struct ExchangeOptions {
  std::vector<std::size_t> sizes;  ///< bytes from each rank to each
  int rounds = 100;                ///< samples of each method and size; a quarter of them, but at least 5, above 64 KiB
  /// How many times the computation beside an exchange polls it; 0: never, for a progress thread.
  int polls = 32;
  bool has_progress_thread = false;  ///< one on each rank, while the team's exchange runs beside a computation
  bool has_mpi = false;  ///< whether the ranks are those of MPI_COMM_WORLD; MPI's exchanges are then measured too
  /// Called on each rank that sets it, before each size, with a text for people, its number from 1, and how many there
  /// are.
  std::function<void(const std::string& step, int number, int count)> progress;
};

/// An exchange, a computation of equal length, and both at once: the computation runs between the start of the exchange
/// and the wait for its end. Medians.
struct Overlap {
  double exchange_s = 0;     ///< alone
  double computation_s = 0;  ///< alone
  double total_s = 0;        ///< both at once

  /// total_s over the longer of the two: 1 where the shorter one is hidden, 2 where nothing is.
  double over_longer() const noexcept { return total_s / (exchange_s > computation_s ? exchange_s : computation_s); }
};

/// The times of one method at one size. A sample is the time of the slowest rank.
struct ExchangeResult {
  std::string way;
  std::size_t bytes = 0;
  int samples = 0;  ///< each is the mean of some repetitions in a row
  double min_s = 0;
  double median_s = 0;
  double p99_s = 0;
  std::optional<Overlap> overlap;  ///< for split-phase methods
};

/// Collective over two ranks or more: all ranks exchange blocks with all, by the team's exchange into a segment, by
/// MPI_Alltoall and by MPI_Ialltoall, on the same memory. For each size, the first and the last byte of each block that
/// a method brings are compared with what was sent. Then all methods are timed by turns, a sample of each in each
/// round. The results are the same on every rank. Throws Error on every rank where what has arrived is wrong, where
/// there is too little memory, and for a team of one rank.
std::vector<ExchangeResult> measure_exchange(const gas::Team& team, const ExchangeOptions& options);

}  // namespace penstock::lab

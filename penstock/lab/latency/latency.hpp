// The latency of small and large messages between two ranks, by every method that there is.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "penstock/gas/gas.hpp"
#include "penstock/lab/latency/bandwidth.hpp"

namespace penstock::lab {

/// Options of the measurement; the same on all ranks.
struct LatencyOptions {
  std::vector<std::size_t> sizes;  ///< bytes
  int rounds = 200;                ///< samples of each method and size; a quarter of them, but at least 5, above 64 KiB
  bool has_mpi = false;  ///< whether the team's ranks are those of MPI_COMM_WORLD; MPI's methods are then measured too
  /// Called on rank 0 before each size, with a text for people, its number from 1, and how many there are.
  std::function<void(const std::string& step, int number, int count)> progress;
};

/// The times of one method at one size.
struct LatencyResult {
  std::string way;
  std::size_t bytes = 0;
  bool is_round_trip = false;  ///< else half a round trip
  int samples = 0;             ///< each is the mean of some repetitions in a row
  double min_s = 0;
  double median_s = 0;
  double p99_s = 0;
};

/// The results; `of` is empty on all ranks but 0.
struct LatencyResults {
  std::vector<LatencyResult> of;
  /// For each method that is not possible here: its name and the reason.
  std::vector<std::string> left_out;
};

/// Collective over two ranks or more (else Error). The first two exchange messages; the others wait.
///
/// The methods: a copy into the peer's memory and a flag there, by plain stores (the floor, where memory is shared);
/// put_signal answered by put_signal, put_set by put_set; get; fetch_add (8 bytes); active message and reply; MPI_Send
/// and MPI_Recv; MPI puts and flags with flushes between. They take turns in each round.
LatencyResults measure_latency(const gas::Team& team, const LatencyOptions& options);

}  // namespace penstock::lab

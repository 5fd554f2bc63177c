// How long small and large messages take between two ranks, by every way that there is, one beside the other.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "penstock/gas/gas.hpp"
#include "penstock/lab/latency/bandwidth.hpp"

namespace penstock::lab {

/// What to measure. All ranks give the same.
struct LatencyOptions {
  std::vector<std::size_t> sizes;  ///< bytes
  int rounds = 200;                ///< samples of each way and size; fewer above 64 KiB
  bool has_mpi = false;            ///< whether the team's ranks are those of MPI_COMM_WORLD, whose own ways join in
  /// Told on rank 0 what was measured last.
  std::function<void(const std::string&)> progress;
};

/// One way at one size.
struct LatencyResult {
  std::string way;
  std::size_t bytes = 0;
  bool is_round_trip = false;  ///< else one way: half of there and back
  int samples = 0;             ///< each the mean of some repetitions in a row
  double min_s = 0;
  double median_s = 0;
  double p99_s = 0;
};

/// What was measured; on rank 0, empty on the others.
struct LatencyResults {
  std::vector<LatencyResult> of;
  /// For each way that could not be had, which and why.
  std::vector<std::string> left_out;
};

/// Collective over two ranks or more, of which the first two exchange messages and the others wait.
///
/// The ways: a copy into the peer's memory and a flag there, with plain stores (the floor, where memory is shared);
/// put_signal answered by put_signal, put_set by put_set; get; fetch_add (8 bytes); active message and reply; MPI_Send
/// and MPI_Recv; MPI puts and flags with flushes between. Of each round every way takes its turn.
LatencyResults measure_latency(const gas::Team& team, const LatencyOptions& options);

}  // namespace penstock::lab

// How many bytes a second go from one rank to others when many messages are under way at once. Included by latency.hpp.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "penstock/gas/gas.hpp"

namespace penstock::lab {

/// What to measure. All ranks give the same.
struct BandwidthOptions {
  std::vector<std::size_t> sizes;  ///< bytes of a message
  int window = 64;                 ///< messages to each peer under way at once; fewer where they take more than 64 MiB
  int rounds = 50;                 ///< windows of each way and size
  bool has_mpi = false;            ///< whether the team's ranks are those of MPI_COMM_WORLD, whose sends join in
  /// Told on rank 0 what was measured last.
  std::function<void(const std::string&)> progress;
};

/// One way at one size: of all peers together, from the begin of a window until all of it has arrived.
struct BandwidthResult {
  std::string way;
  std::size_t bytes = 0;
  int peers = 0;
  int window = 0;
  double best_bytes_per_s = 0;
  double median_bytes_per_s = 0;
};

/// Collective over two ranks or more: rank 0 floods its peers, first one, then, where there are more, all. Results on
/// rank 0.
///
/// The ways: copies into the peers' memory by plain stores (the limit, where memory is shared); puts, all begun, then
/// all waited for; MPI_Isend to MPI_Irecv. Of each round every way takes its turn.
std::vector<BandwidthResult> measure_bandwidth(const gas::Team& team, const BandwidthOptions& options);

}  // namespace penstock::lab

// The bandwidth from one rank to others, with many messages under way at once. Included by latency.hpp.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "penstock/gas/gas.hpp"

namespace penstock::lab {

/// Options of the measurement; the same on all ranks.
struct BandwidthOptions {
  std::vector<std::size_t> sizes;  ///< bytes of a message, at least 1
  int window = 64;                 ///< messages under way to each peer at once; fewer where these take more than 64 MiB
  int rounds = 50;                 ///< windows of each method and size
  bool has_mpi = false;  ///< whether the team's ranks are those of MPI_COMM_WORLD; MPI's sends are then measured too
  /// Called on rank 0 before each size, with a text for people, its number from 1, and how many there are.
  std::function<void(const std::string& step, int number, int count)> progress;
};

/// The bandwidth of one method at one size, to all peers together. The time is from the begin of a window until all of
/// it has arrived.
struct BandwidthResult {
  std::string way;
  std::size_t bytes = 0;
  int peers = 0;
  int window = 0;
  double best_bytes_per_s = 0;
  double median_bytes_per_s = 0;
};

/// Collective over two ranks or more (else Error): rank 0 sends windows of messages to one peer and then, where there
/// are more, to all peers. Results on rank 0; empty on the others.
///
/// The methods: copies into the peers' memory by plain stores, where all ranks map one another's memory (the limit
/// there); puts, all begun, then all waited for; MPI_Isend to MPI_Irecv. They take turns in each round.
std::vector<BandwidthResult> measure_bandwidth(const gas::Team& team, const BandwidthOptions& options);

}  // namespace penstock::lab

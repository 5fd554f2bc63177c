// The time of a transform as this library runs it: passes, and exchanges between them. A pass gathers one tile after
// the other into cache, transforms the tile there, and scatters it to its next place.
//
// `fft_time` models any implementation, on a machine described by single rates. `planned_fft_time` models ours, on a
// machine whose curves `penstock calibrate` has measured; for machines without curves see node_rates.hpp.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "penstock/machine/machine.hpp"
#include "penstock/model/fft_exchange.hpp"
#include "penstock/model/fft_limit.hpp"
#include "penstock/model/resource.hpp"
#include "penstock/shape/shape.hpp"

#pragma GCC visibility push(default)

namespace penstock::model {

/// A transform and how it is run. Members are of the whole run, not of a rank, unless their comment says so.
struct PlannedFft {
  Fft fft;
  std::int64_t nodes = 1;
  std::int64_t ranks_per_node = 1;
  std::int64_t threads = 1;  ///< of each rank
  /// Nodes that share the processors of one host, which are those of `machine.node`: processes that map no memory of
  /// one another, or containers.
  std::int64_t nodes_per_host = 1;
  /// Parts are deferred only in exchanges in which a rank receives other planes than its peers send.
  shape::Tuning tuning{.grid = {1, 1}};
  /// Whether x and y are transformed in one pass, through a plane in cache.
  bool is_plane_in_cache = false;
  /// Whether the spectrum is brought back into the input's distribution; with several ranks by a further exchange and
  /// pass.
  bool is_output_as_input = false;
  /// Whether ranks of one node write into one another's memory; else they send messages as ranks of different nodes do.
  bool is_node_shared = true;
  /// The name of the machine's transport that carries messages; empty: as `find_transport` says.
  std::string transport = {};
};

/// One pass: every element read from memory and written to memory once.
struct FftPass {
  double transform_s = 0;  ///< 1-D transforms in cache, of one direction or two
  double move_s = 0;       ///< gathering, scattering, and writing a plane in cache
};

/// The parts of one transform's time. All but `exchanges`, which are of one field, are of all fields.
struct PlannedFftTime {
  std::vector<FftPass> passes;
  std::vector<FftExchange> exchanges;  ///< those between different ranks, of one field
  double transform_s = 0;              ///< of all passes
  double move_s = 0;                   ///< of all passes
  double start_s = 0;                  ///< of starting threads' work, and of signals through shared memory
  double overhead_s = 0;               ///< the processor's time for messages
  double transfer_s = 0;               ///< of messages, hidden or not
  double hidden_s = 0;                 ///< the part of transfer_s hidden behind the passes before and after
  double total_s = 0;                  ///< the sum of all parts, less hidden_s
};

/// The time of one call; forward and backward calls take the same. Throws Error where counts are below 1, the
/// grid does not fill the nodes, deferred parts are out of range, or the machine's FFT rate is not known. Throws Error
/// also where the machine lacks the transport for messages, or a network of so many nodes.
PlannedFftTime planned_fft_time(const machine::Machine& machine, const PlannedFft& run);

/// The gains of doubling each resource, the largest first: the first one's resource bounds the run.
std::vector<Gain> planned_fft_gains(const machine::Machine& machine, const PlannedFft& run);

}  // namespace penstock::model

#pragma GCC visibility pop

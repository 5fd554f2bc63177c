// How long a transform takes as this library runs it: passes that gather tiles into cache, transform them there and
// scatter them to where they go next, one after the other; and exchanges between the passes.
//
// `fft_time` is about any implementation on a machine that single figures describe; this is about ours, on a machine
// whose curves `penstock calibrate` has measured. It also takes machines without curves; see node_rates.hpp.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "penstock/machine/machine.hpp"
#include "penstock/model/fft_exchange.hpp"
#include "penstock/model/fft_limit.hpp"
#include "penstock/model/resource.hpp"
#include "penstock/shape/shape.hpp"

namespace penstock::model {

/// A transform and how it is run. Everything is of the whole run, not of a rank, unless it says so.
struct PlannedFft {
  Fft fft;
  std::int64_t nodes = 1;
  std::int64_t ranks_per_node = 1;
  std::int64_t threads = 1;  ///< of each rank
  /// Nodes on the same processors, of which the machine's are all: processes that map no memory of one another, or
  /// containers.
  std::int64_t nodes_per_host = 1;
  /// Parts are deferred only where a rank receives other planes than its peers send.
  shape::Tuning tuning{.grid = {1, 1}};
  /// x and y are transformed in one pass, joined by a plane in cache.
  bool is_plane_in_cache = false;
  /// The spectrum is brought back into the input's distribution, between ranks by an exchange and a pass more.
  bool is_output_as_input = false;
  /// Ranks of one node write into one another's memory; else they send messages as those of different nodes do.
  bool is_node_shared = true;
  /// Of the machine's, which carries messages; empty: its first.
  std::string transport = {};
};

/// One pass: every element read from memory and written to memory once.
struct FftPass {
  double transform_s = 0;  ///< 1-D transforms in cache, of one direction or two
  double move_s = 0;       ///< gathering and scattering, but for what is read while rows are transformed
};

/// The parts of one transform's time, of all its fields.
struct PlannedFftTime {
  std::vector<FftPass> passes;
  std::vector<FftExchange> exchanges;  ///< those between different ranks
  double transform_s = 0;              ///< of all passes
  double move_s = 0;                   ///< of all passes
  double start_s = 0;                  ///< setting threads to work, and telling peers by shared memory
  double overhead_s = 0;               ///< the processor's, for messages
  double transfer_s = 0;               ///< of messages, hidden or not
  double hidden_s = 0;                 ///< of these, behind the passes before and after
  double total_s = 0;                  ///< all parts, less what is hidden
};

/// The time of one call in one direction; forward and backward are the same to it. Throws Error where counts are below
/// 1, the grid has not as many places as there are ranks, the machine's FFT rate is not known, it has no such transport
/// where messages are sent, or several nodes have no network.
PlannedFftTime planned_fft_time(const machine::Machine& machine, const PlannedFft& run);

/// What doubling each resource would gain, the greatest first: its resource is what bounds the run.
std::vector<Gain> planned_fft_gains(const machine::Machine& machine, const PlannedFft& run);

}  // namespace penstock::model

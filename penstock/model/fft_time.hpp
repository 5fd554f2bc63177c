// The time of a distributed 3-D FFT on a described machine: stages of 1-D transforms with exchanges between them.
// An exchange has any number of planes per message, from one (slabs) to all (packed slabs; seed 0). The costs of
// messages are in the terms of LogGP.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "penstock/machine/machine.hpp"
#include "penstock/model/fft_exchange.hpp"
#include "penstock/model/fft_limit.hpp"
#include "penstock/model/resource.hpp"
#include "penstock/model/topology.hpp"

#pragma GCC visibility push(default)

namespace penstock::model {

/// Where a run's nodes lie.
enum class Placement {
  alone,   ///< side by side, with no other run's messages on their links
  shared,  ///< spread over the machine, whose other nodes load the links as much as the nodes of this run
};

/// What crosses the bus between accelerators and their host, on a machine that has one.
enum class BusTraffic {
  stages,     ///< the field, into the accelerator for each stage and out again (Czechowski et al. 2012, eq. 9)
  exchanges,  ///< what ranks exchange, staged through the host: out of the sender's accelerator, into the receiver's
  none,       ///< nothing: fields stay on accelerators, whose memory the network reads and writes
};

/// A transform on a part of a machine, all cores of its nodes at work.
struct FftRun {
  Fft fft;
  std::int64_t nodes = 1;
  std::int64_t ranks_per_node = 1;
  /// The grid of ranks. Where both are 0, the grid of the shortest time.
  std::int64_t ty = 0;
  std::int64_t tz = 0;
  /// Planes per message; 0: all of them (packed slabs), 1: slabs.
  std::int64_t planes_per_message = 0;
  RankOrder order = RankOrder::cores_first;
  Placement placement = Placement::alone;
  /// The name of a transport of the machine; empty: as `find_transport` says.
  std::string transport = {};
  /// Whether transfers of planes may go on while later planes are transformed, as far as the transport progresses.
  bool overlaps = true;
  /// How often the field is copied for each exchange: 0 where transforms write to their destination, 1 for a local
  /// transpose (Czechowski et al. 2012, eq. 8), 2 for packing and unpacking.
  double copies_per_exchange = 0;
  BusTraffic bus = BusTraffic::stages;
  /// Whether stores bypass the cache. Ordinary stores first read the line that they write (Intel 64 and IA-32
  /// Architectures Optimization Reference Manual, "The Non-temporal Store Instructions"): a pass then moves three
  /// fields, not two.
  bool stores_bypass_cache = true;
};

/// The parts of one transform's time. The times of stages are those of the rank with most points.
struct FftTime {
  std::int64_t ty = 1;
  std::int64_t tz = 1;
  bool is_mapped = true;                 ///< see GridLoad
  std::array<double, 3> arithmetic_s{};  ///< of each stage: operations at the rate in cache
  std::array<double, 3> memory_s{};      ///< of each stage: read and written once
  double copy_s = 0;                     ///< of the copies for all exchanges
  double bus_s = 0;                      ///< to and from accelerators: see BusTraffic
  double overhead_s = 0;                 ///< the processor's time for messages
  std::vector<FftExchange> exchanges;    ///< those between several ranks; empty for one rank
  double compute_s = 0;                  ///< the processor's time, overhead included
  double transfer_s = 0;                 ///< of all exchanges, hidden or not
  double hidden_s = 0;                   ///< the part of transfer_s that is hidden behind computation
  double total_s = 0;                    ///< compute_s + transfer_s - hidden_s
};

/// Throws Error where the grid or the planes do not fit, the machine has no such transport or network of so many nodes,
/// or its FFT rate is not known.
FftTime fft_time(const machine::Machine& machine, const FftRun& run);

/// The bound of seed 0: the time in which the most loaded link passes its bytes of both exchanges, where nothing else
/// takes time.
double fft_link_bound_s(const machine::Machine& machine, const FftRun& run);

/// The gains of doubling each resource, the largest first: the first one's resource bounds the run.
std::vector<Gain> fft_gains(const machine::Machine& machine, const FftRun& run);

}  // namespace penstock::model

#pragma GCC visibility pop

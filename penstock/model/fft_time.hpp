// How long a distributed 3-D FFT takes on a described machine: stages of 1-D transforms with exchanges between them, in
// packed slabs, slabs, or any number of planes per message between (seed 0), with the costs of messages in the terms of
// LogGP.
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

namespace penstock::model {

/// Where a run's nodes lie.
enum class Placement {
  alone,   ///< side by side, and nobody else's messages on their links
  shared,  ///< all over the machine, whose other nodes load its links as this run does: each has its share of them
};

/// A transform on a part of a machine, all cores of its nodes at work.
struct FftRun {
  Fft fft;
  std::int64_t nodes = 1;
  std::int64_t ranks_per_node = 1;
  /// Ranks in y and z. Where both are 0, the grid of the shortest time.
  std::int64_t ty = 0;
  std::int64_t tz = 0;
  /// The planes whose data share a message; 0: all of them (packed slabs). 1 are slabs.
  std::int64_t planes_per_message = 0;
  RankOrder order = RankOrder::cores_first;
  Placement placement = Placement::alone;
  /// Of the machine's; empty: its first, or where it describes none, one that costs nothing and always progresses.
  std::string transport = {};
  /// Whether transfers of planes may go on while later planes are transformed, as far as the transport progresses.
  bool overlaps = true;
  /// How often the field is copied beside each exchange: 0 where transforms write to their destination, 1 for a local
  /// transpose (Czechowski et al. 2012, eq. 8), 2 for packing and unpacking.
  double copies_per_exchange = 0;
  /// Stores bypass the cache. Ordinary ones first read the line that they write (Intel 64 and IA-32 Architectures
  /// Optimization Reference Manual, "The Non-temporal Store Instructions"): a pass then moves three fields, not two.
  bool stores_bypass_cache = true;
};

/// The parts of one transform's time. Stages are the largest rank's.
struct FftTime {
  std::int64_t ty = 1;
  std::int64_t tz = 1;
  bool is_mapped = true;                 ///< see GridLoad
  std::array<double, 3> arithmetic_s{};  ///< of each stage: operations at the rate in cache
  std::array<double, 3> memory_s{};      ///< of each stage: read and written once
  double copy_s = 0;                     ///< beside all exchanges
  double bus_s = 0;                      ///< to and from an accelerator's memory (eq. 9)
  double overhead_s = 0;                 ///< the processor's, for messages
  std::vector<FftExchange> exchanges;    ///< those that there are: none for one rank
  double compute_s = 0;                  ///< all that the processor does
  double transfer_s = 0;                 ///< all exchanges, hidden or not
  double hidden_s = 0;                   ///< of these, behind computation
  double total_s = 0;                    ///< compute_s + transfer_s - hidden_s
};

/// Throws Error where the grid or the planes do not fit, the transport is not the machine's, the machine's FFT rate is
/// not known, or several nodes have no network.
FftTime fft_time(const machine::Machine& machine, const FftRun& run);

/// The upper bound of seed 0: the time in which the most loaded link passes its bytes of both exchanges, and nothing
/// else takes time.
double fft_link_bound_s(const machine::Machine& machine, const FftRun& run);

/// What doubling each resource would make of the time, the greatest gain first: its resource is what bounds the run.
std::vector<Gain> fft_gains(const machine::Machine& machine, const FftRun& run);

}  // namespace penstock::model

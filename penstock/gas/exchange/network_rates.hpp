// Latency, overhead and bandwidth of a team's messages between nodes, measured in short, for predictions and choices.
// Included by gas.hpp.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "penstock/gas/exchange/exchange.hpp"
#include "penstock/machine/machine.hpp"

#pragma GCC visibility push(default)

namespace penstock::gas {

/// Rates of messages between nodes, sent as an Exchange sends them, while all ranks send and receive at once. A node is
/// here a memory domain: ranks that map one another's memory.
struct NetworkRates {
  std::int64_t nodes = 1;
  std::int64_t ranks_per_node = 1;     ///< on the node that has the most
  Carrier carrier = Carrier::fastest;  ///< the faster of the two
  double latency_s = 0;                ///< of a message of 8 bytes
  double overhead_s = 0;               ///< processor time for each of many such messages, to send and to receive
  /// The bandwidth of each rank, in messages of 1 MiB, by Carrier::fastest and by Carrier::packets.
  double whole_bytes_per_s = 0;
  double packets_bytes_per_s = 0;
  // By the faster carrier:
  double gap_s = 0;     ///< the time that each further message takes where as many bytes are cut into more messages
  double progress = 0;  ///< the part of a transfer, 0 to 1, that is hidden behind a computation that polls
  /// The same for a computation that leaves polling to a ProgressThread, less what the thread costs the computation.
  /// Nothing where a rank has no processor left for the thread, or MPI allows none.
  std::optional<double> thread_progress{};
};

/// Collective: the rates of messages between the team's memory domains; nullptr where all ranks map one another's
/// memory. The first call for a team measures, with some tens of messages of 1 MiB from every rank: 0.1 to 1 s over
/// Ethernet of 1 Gbit/s.
std::shared_ptr<const NetworkRates> network_rates_of(const Team& team);

/// Collective: the time that each further message takes where 1 MiB from every rank to the one `distance` above it, the
/// highest to the lowest, is cut into more messages, whichever is less, of messages sent at once or with some work
/// between them (`gap_s` of a machine's transport). The same on all ranks.
double measure_gap(const Team& team, int distance, Carrier carrier);

/// Collective: the part, 0 to 1, of such a transfer in one message that is hidden behind a computation as long as it,
/// which polls the network every 0.1 ms (`progress` of a machine's transport). The same on all ranks.
double measure_progress(const Team& team, int distance, Carrier carrier);

/// Returns `machine` with these rates as its network and as its only transport, `name`; they replace what it had. The
/// bandwidth is that of `carrier`. Local.
machine::Machine with_network(machine::Machine machine, const NetworkRates& rates, Carrier carrier,
                              std::string_view name);

}  // namespace penstock::gas

#pragma GCC visibility pop

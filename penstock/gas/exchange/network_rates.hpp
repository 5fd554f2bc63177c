// What a team's messages to ranks of other nodes reach, measured in a moment, for predictions and choices. Included by
// gas.hpp.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "penstock/gas/exchange/exchange.hpp"
#include "penstock/machine/machine.hpp"

namespace penstock::gas {

/// Of messages between nodes, as those of an Exchange travel, all ranks sending and receiving at once.
struct NetworkRates {
  std::int64_t nodes = 1;
  std::int64_t ranks_per_node = 1;     ///< on the node that has most
  Carrier carrier = Carrier::fastest;  ///< the faster one of `fastest` and `packets`
  double latency_s = 0;                ///< of 8 bytes
  double overhead_s = 0;               ///< of the processors, for each of many such messages, sent and received
  /// Of each rank, in messages of 1 MiB, by Carrier::fastest and by Carrier::packets.
  double whole_bytes_per_s = 0;
  double packets_bytes_per_s = 0;
  // By the faster carrier:
  double gap_s = 0;     ///< that each message more takes into which as many bytes are cut
  double progress = 0;  ///< the part of a transfer, 0 to 1, that goes on behind a computation that polls
  /// The same of a computation that leaves polling to a ProgressThread, less what that takes from it; nothing where a
  /// rank has no processor for one, or MPI allows none.
  std::optional<double> thread_progress{};
};

/// Collective: what messages between the team's domains reach; nothing where all ranks map one another's memory. The
/// first call measures it, with some tens of messages of 1 MiB of every rank: 0.1 to 1 s over Ethernet of 1 Gbit/s.
std::shared_ptr<const NetworkRates> network_rates_of(const Team& team);

/// `machine` with a network between nodes and a transport `name` that reach these figures by that carrier, one of the
/// two, in the place of any that it had. Local.
machine::Machine with_network(machine::Machine machine, const NetworkRates& rates, Carrier carrier,
                              std::string_view name);

}  // namespace penstock::gas

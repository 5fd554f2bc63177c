// One exchange of a distributed FFT over the links of a machine, in the terms of LogGP.
#pragma once

#include <cstdint>

#include "penstock/machine/machine.hpp"

namespace penstock::model {

/// One exchange, between two stages.
struct FftExchange {
  std::int64_t groups = 1;   ///< of the sender's planes: those of a group share a message to a peer
  double messages = 0;       ///< of each rank
  double message_bytes = 0;  ///< of one of them
  double link_s = 0;         ///< the most loaded link's time
  double injection_s = 0;    ///< a node's own links' or adapter's
  double stream_s = 0;       ///< one rank's, by the bandwidth of its messages
  double latency_s = 0;      ///< of one message
  double hidden_s = 0;       ///< of the transfer, behind computation
  double transfer_s() const noexcept;
  /// The part of the transfer that goes on while `work_s` of work is done on one group of planes after the other: all
  /// but the last group's work (or transfer, where that is shorter), and no more than the part that the transport keeps
  /// going.
  double hidden_behind(double work_s, double progress) const noexcept;
};

/// How an exchange loads the links between nodes.
struct LinkLoad {
  std::int64_t nodes = 1;
  std::int64_t ranks_per_node = 1;
  double link = 0;      ///< over the most loaded link, of the bytes that a node holds
  double off_node = 0;  ///< leave their node, of these bytes
};

/// Sets the times of `exchange`, of which `message_bytes` is known, where each rank holds `rank_bytes`. The machine has
/// a network.
void send_over_links(const machine::Machine& machine, const machine::Transport& transport, const LinkLoad& load,
                     double rank_bytes, FftExchange& exchange);

}  // namespace penstock::model

// One exchange of a distributed FFT over the links of a machine, in the terms of LogGP.
#pragma once

#include <cstdint>

#include "penstock/machine/machine.hpp"

#pragma GCC visibility push(default)

namespace penstock::model {

/// One exchange, between two stages.
struct FftExchange {
  std::int64_t groups = 1;   ///< of the sender's planes; the planes of a group share a message to a peer
  double messages = 0;       ///< sent by each rank
  double message_bytes = 0;  ///< of one message
  double link_s = 0;         ///< the time of the most loaded link
  double injection_s = 0;    ///< the time of a node's own links or adapter
  double stream_s = 0;       ///< the time of one rank's bytes at the bandwidth of its messages
  double latency_s = 0;      ///< of one message
  double hidden_s = 0;       ///< the part of the transfer that is hidden behind computation
  double transfer_s() const noexcept;
  /// The time of the transfer that is hidden behind `work_s` of work on one group of planes after the other:
  /// (1 - 1 / groups) min(work_s, progress transfer_s()). The transport's `progress` is the part of a transfer that
  /// goes on during work; behind the last group's transfer there is no work.
  double hidden_behind(double work_s, double progress) const noexcept;
};

/// How an exchange loads the links between nodes.
struct LinkLoad {
  std::int64_t nodes = 1;
  std::int64_t ranks_per_node = 1;
  double link = 0;      ///< bytes over the most loaded link, for each byte that a node holds
  double off_node = 0;  ///< the part of a node's bytes that leaves the node
};

/// Sets the times of `exchange`, but for `hidden_s`, where each rank holds `rank_bytes`. `exchange.message_bytes` is
/// set before. The machine must have a network. Throws Error as `topology_metrics` does.
void send_over_links(const machine::Machine& machine, const machine::Transport& transport, const LinkLoad& load,
                     double rank_bytes, FftExchange& exchange);

/// Adds the time of messages within a node, which its processors copy, one stream for each rank: of each rank the part
/// `within` of its `rank_bytes`. `sharers` ranks share a core, 1 at least.
void send_within_node(const machine::Transport& transport, double rank_bytes, double within, double sharers,
                      FftExchange& exchange);

}  // namespace penstock::model

#pragma GCC visibility pop

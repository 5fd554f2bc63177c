#include "penstock/model/fft_exchange.hpp"

#include <algorithm>

#include "penstock/model/ping_pong.hpp"
#include "penstock/model/topology.hpp"

namespace penstock::model {

double FftExchange::transfer_s() const noexcept {
  return std::max({link_s, injection_s, stream_s}) + latency_s;
}

double FftExchange::hidden_behind(double work_s, double progress) const noexcept {
  return (1 - 1 / static_cast<double>(groups)) * std::min(work_s, progress * transfer_s());
}

void send_over_links(const machine::Machine& machine, const machine::Transport& transport, const LinkLoad& load,
                     double rank_bytes, FftExchange& exchange) {
  const TopologyMetrics metrics = topology_metrics(*machine.network, load.nodes);
  const double link = machine.network->link_bandwidth_bytes_per_s;
  const double node_bytes = rank_bytes * static_cast<double>(load.ranks_per_node);
  // Each message holds a link for the gap as well as for its bytes.
  const double gap = 1 + transport.gap_s * link / exchange.message_bytes;
  exchange.link_s = node_bytes * load.link / link * gap;
  exchange.injection_s = node_bytes * load.off_node / metrics.injection_bytes_per_s * gap;
  const machine::MessagePiece& piece = piece_of(transport.pieces, exchange.message_bytes);
  exchange.latency_s = piece.latency_s;
  exchange.stream_s = rank_bytes * load.off_node / piece.bandwidth_bytes_per_s;
}

void send_within_node(const machine::Transport& transport, double rank_bytes, double within, double sharers,
                      FftExchange& exchange) {
  const machine::MessagePiece& piece = piece_of(transport.pieces, exchange.message_bytes);
  exchange.stream_s += rank_bytes * within / piece.bandwidth_bytes_per_s * sharers;
  exchange.latency_s = piece.latency_s;
}

}  // namespace penstock::model

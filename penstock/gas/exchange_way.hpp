// How an exchange carries its messages: the joint below Exchange. Private to the module.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "penstock/gas/exchange.hpp"

namespace penstock::gas {

/// As the members of Exchange; what waits there is asked for here.
class ExchangeWay {
 public:
  virtual ~ExchangeWay() = default;
  virtual void open() = 0;
  virtual bool is_open(std::size_t message) = 0;
  /// Of a message that is open.
  virtual std::byte* destination(std::size_t message) = 0;
  virtual void send(std::size_t message) = 0;
  virtual bool has_arrived(std::size_t message) = 0;
  virtual bool has_finished() = 0;
  virtual void progress() = 0;
};

/// Whether memory of peers is written, where it is mapped or the network writes it. MPI's own ways are there to be
/// compared with, wherever they are.
constexpr bool writes_memory(Carrier carrier) noexcept {
  return carrier == Carrier::fastest || carrier == Carrier::packets;
}

/// Whether an exchange's messages to `peer` are written in place.
bool is_written_in_place(const Team& team, Carrier carrier, int peer);

/// Message by message: in place where the memory of the peer is mapped (or, by MPI's messages, to the rank itself
/// alone), by channels elsewhere. Collective.
std::unique_ptr<ExchangeWay> exchange_by_messages(const Team& team, const Segment& segment,
                                                  std::vector<Outgoing> outgoing, std::vector<Incoming> incoming,
                                                  Carrier carrier);

/// By MPI's all-to-all calls, one after the other: call k carries the k-th message of each pair of ranks. Collective.
std::unique_ptr<ExchangeWay> exchange_by_calls(const Team& team, const Segment& segment, std::vector<Outgoing> outgoing,
                                               std::vector<Incoming> incoming, bool is_blocking);

}  // namespace penstock::gas

// The library's own implementation of an exchange, message by message. Private to the module.
#pragma once

#include <memory>
#include <vector>

#include "penstock/gas/exchange/method.hpp"

namespace penstock::gas {

/// Message by message: in place where the memory of the peer is mapped, put where the network writes it, by channels
/// elsewhere. Collective.
std::unique_ptr<ExchangeBackend> exchange_by_messages(const Team& team, const Segment& segment,
                                                      std::vector<Outgoing> outgoing, std::vector<Incoming> incoming,
                                                      Carrier carrier);

}  // namespace penstock::gas

// Rounds of an exchange in which every rank sends to every rank, each message checked.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <thread>
#include <vector>

#include "penstock/gas/gas.hpp"

namespace penstock::gas {

inline std::byte value_of(int source, int target, std::size_t message, int round) {
  return static_cast<std::byte>(source * 31 + target * 7 + static_cast<int>(message) * 3 + round);
}

/// Every rank sends `messages` messages of different lengths to every rank, itself included.
struct AllToAll {
  std::vector<Outgoing> outgoing;
  std::vector<Incoming> incoming;
  std::size_t bytes = 0;

  AllToAll(const Team& team, std::size_t messages, std::size_t unit) {
    std::size_t offset = 0;
    for (int source = 0; source < team.size(); ++source) {
      for (std::size_t message = 0; message < messages; ++message) {
        incoming.push_back({.peer = source, .offset = offset, .bytes = unit * (message + 1)});
        offset += unit * (message + 1);
      }
    }
    bytes = offset;
    for (int target = team.size() - 1; target >= 0; --target) {
      for (std::size_t message = 0; message < messages; ++message) {
        const std::size_t number = static_cast<std::size_t>(team.rank()) * messages + message;
        outgoing.push_back(
            {.peer = target, .offset = incoming[number].offset, .bytes = incoming[number].bytes, .index = number});
      }
    }
  }
};

inline void run_rounds(Team& team, std::size_t messages, std::size_t unit, int rounds,
                       Carrier carrier = Carrier::fastest, const ExchangeMethod* method = nullptr) {
  const AllToAll plan(team, messages, unit);
  const Segment segment(team, plan.bytes, 0);
  Exchange exchange(team, segment, plan.outgoing, plan.incoming, carrier, method);
  for (int round = 0; round < rounds; ++round) {
    exchange.open();
    for (std::size_t m = 0; m < plan.outgoing.size(); ++m) {
      const Outgoing& out = plan.outgoing[m];
      std::fill_n(exchange.destination(m), out.bytes, value_of(team.rank(), out.peer, m % messages, round));
      exchange.send(m);
    }
    if ((round + team.rank()) % 3 == 0) {
      std::this_thread::yield();  // ranks run apart
    }
    for (std::size_t m = 0; m < plan.incoming.size(); ++m) {
      const Incoming& in = plan.incoming[m];
      exchange.wait(m);
      for (const std::byte value : segment.local().subspan(in.offset, in.bytes)) {
        ASSERT_EQ(value, value_of(in.peer, team.rank(), m % messages, round)) << "round " << round << " message " << m;
      }
    }
    exchange.finish();
  }
}

}  // namespace penstock::gas

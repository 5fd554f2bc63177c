// Exchanges: of a fixed list of messages in rounds, and of blocks between all ranks.
#include <cstddef>
#include <exception>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/c/handles.hpp"
#include "penstock/c/status.hpp"

namespace gas = penstock::gas;
using penstock::c::status_of;

struct penstock_exchange {
  gas::Exchange exchange;
  std::size_t outgoing;
  std::size_t incoming;
};

struct penstock_event {
  gas::Event event;
  std::string failure{};  // of a test, for wait
};

namespace {

std::vector<gas::Outgoing> outgoing_of(const penstock_outgoing* messages, std::size_t count) {
  std::vector<gas::Outgoing> all;
  for (const penstock_outgoing& message : std::span(messages, count)) {
    all.push_back({message.peer, message.offset, message.bytes, message.index});
  }
  return all;
}

std::vector<gas::Incoming> incoming_of(const penstock_incoming* messages, std::size_t count) {
  std::vector<gas::Incoming> all;
  for (const penstock_incoming& message : std::span(messages, count)) {
    all.push_back({message.peer, message.offset, message.bytes});
  }
  return all;
}

void require_message(std::size_t message, std::size_t count) {
  if (message >= count) {
    throw penstock::Error("message " + std::to_string(message) + " of an exchange that lists " + std::to_string(count));
  }
}

/// The blocks of all ranks; none where one of them has bytes and no memory, which fails on every rank.
template <class Block, class Given, class Byte>
std::vector<Block> blocks_of(const Given* given, int ranks) {
  std::vector<Block> blocks;
  for (const Given& block : std::span(given, given == nullptr ? 0 : static_cast<std::size_t>(ranks))) {
    if (block.data == nullptr && block.bytes > 0) {
      return {};
    }
    blocks.emplace_back(std::span(static_cast<Byte*>(block.data), block.bytes));
  }
  return blocks;
}

}  // namespace

extern "C" {

penstock_status penstock_exchange_create(penstock_team* team, penstock_segment* segment,
                                         const penstock_outgoing* outgoing, size_t outgoing_count,
                                         const penstock_incoming* incoming, size_t incoming_count,
                                         penstock_exchange** exchange) {
  return status_of([&] {
    team->team.together([&] {
      if (segment == nullptr || (outgoing == nullptr && outgoing_count > 0) ||
          (incoming == nullptr && incoming_count > 0)) {
        throw penstock::Error("no segment or no list of messages: it is NULL");
      }
    });
    *exchange = new penstock_exchange{gas::Exchange(team->team, segment->segment, outgoing_of(outgoing, outgoing_count),
                                                    incoming_of(incoming, incoming_count)),
                                      outgoing_count, incoming_count};
  });
}

penstock_status penstock_exchange_destroy(penstock_exchange* exchange) {
  return status_of([&] { delete exchange; });
}

penstock_status penstock_exchange_open(penstock_exchange* exchange) {
  return status_of([&] { exchange->exchange.open(); });
}

penstock_status penstock_exchange_destination(penstock_exchange* exchange, size_t message, void** destination) {
  return status_of([&] {
    require_message(message, exchange->outgoing);
    *destination = exchange->exchange.destination(message);
  });
}

penstock_status penstock_exchange_send(penstock_exchange* exchange, size_t message) {
  return status_of([&] {
    require_message(message, exchange->outgoing);
    exchange->exchange.send(message);
  });
}

penstock_status penstock_exchange_wait(penstock_exchange* exchange, size_t message) {
  return status_of([&] {
    require_message(message, exchange->incoming);
    exchange->exchange.wait(message);
  });
}

penstock_status penstock_exchange_test(penstock_exchange* exchange, size_t message, int* has_arrived) {
  return status_of([&] {
    require_message(message, exchange->incoming);
    *has_arrived = exchange->exchange.has_arrived(message) ? 1 : 0;
  });
}

penstock_status penstock_exchange_finish(penstock_exchange* exchange) {
  return status_of([&] { exchange->exchange.finish(); });
}

penstock_status penstock_start_exchange_blocks(penstock_team* team, const penstock_send_block* send,
                                               const penstock_receive_block* receive, penstock_event** event) {
  return status_of([&] {
    const int ranks = team->team.size();
    const auto sent = blocks_of<gas::SendBlock, penstock_send_block, const std::byte>(send, ranks);
    const auto received = blocks_of<gas::ReceiveBlock, penstock_receive_block, std::byte>(receive, ranks);
    *event = new penstock_event{gas::start_exchange(team->team, sent, received)};
  });
}

penstock_status penstock_event_test(penstock_event* event, int* is_done) {
  return status_of([&] {
    try {
      *is_done = event->event.test() ? 1 : 0;
    } catch (const std::exception& error) {
      event->failure = error.what();
      throw;
    }
  });
}

penstock_status penstock_event_wait(penstock_event* event) {
  const std::unique_ptr<penstock_event> ends(event);
  return status_of([&] {
    if (ends != nullptr) {
      ends->event.wait_or_abandon();
      if (!ends->failure.empty()) {
        throw penstock::Error(ends->failure);
      }
    }
  });
}

penstock_status penstock_exchange_blocks(penstock_team* team, const void* send, void* receive, size_t bytes) {
  return status_of([&] {
    const auto ranks = static_cast<std::size_t>(team->team.size());
    std::vector<penstock_send_block> sent(ranks);
    std::vector<penstock_receive_block> received(ranks);
    for (std::size_t k = 0; k < ranks; ++k) {
      sent[k] = {send == nullptr ? nullptr : static_cast<const std::byte*>(send) + k * bytes, bytes};
      received[k] = {receive == nullptr ? nullptr : static_cast<std::byte*>(receive) + k * bytes, bytes};
    }
    penstock_event* event = nullptr;
    if (penstock_start_exchange_blocks(team, sent.data(), received.data(), &event) != PENSTOCK_OK ||
        penstock_event_wait(event) != PENSTOCK_OK) {
      throw penstock::Error(penstock_last_error());
    }
  });
}
}

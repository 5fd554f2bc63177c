#include "penstock/gas/transport/transport.hpp"

#include "penstock/base/base.hpp"

namespace penstock::gas {
namespace {

// A transport whose peers are all local is never asked for messages.
[[noreturn]] void refuse_messages(const Transport& transport) {
  throw Error("the transport '" + std::string(transport.name()) + "' carries no messages: its peers' memory is mapped");
}

}  // namespace

std::unique_ptr<Channel> Transport::send_channel(int, std::span<const std::byte>) {
  refuse_messages(*this);
}

std::unique_ptr<Channel> Transport::receive_channel(int, std::span<std::byte>) {
  refuse_messages(*this);
}

}  // namespace penstock::gas

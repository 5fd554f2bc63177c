// The joint between the address space and what carries its messages to ranks whose memory is not mapped.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "penstock/gas/message.hpp"
#include "penstock/gas/operation.hpp"

namespace penstock::gas {

/// Messages to and from peers, in order between two ranks. Called by one thread of a rank at a time.
class Network {
 public:
  virtual ~Network() = default;
  /// Begins to send. A payload of up to `most_inline_bytes` is copied; a longer one must stay until `sent` is finished.
  virtual void send(int peer, const Header& header, std::span<const std::byte> payload, std::shared_ptr<Sent> sent) = 0;
  /// Finishes what was sent and hands over what has arrived.
  virtual void progress(Inbox& inbox) = 0;
};

}  // namespace penstock::gas

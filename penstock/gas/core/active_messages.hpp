// Active messages: handlers that ranks call on one another. Included by gas.hpp.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "penstock/gas/core/segment.hpp"

namespace penstock::gas {

/// A table of handlers that the ranks of a team call on one another.
///
/// A handler runs on the rank that is called, while that waits in a call of this module or polls, on whichever of its
/// threads does; one at a time. It may reply, and nothing else of this module. It should not throw: what it throws
/// comes out of the call that ran it, and whatever that waited for is not done.
class ActiveMessages {
 public:
  using Arguments = std::array<std::uint64_t, 3>;

  /// A call, while its handler runs.
  class Message {
   public:
    /// The rank that sent it.
    int source() const noexcept { return source_; }
    const Arguments& arguments() const noexcept { return arguments_; }
    /// The payload: of a long message its place in this rank's part of the segment, else gone when the handler returns.
    std::span<const std::byte> payload() const noexcept { return payload_; }
    /// Calls handler `handler` on the source. At most `max_payload_bytes`, which are copied.
    void reply(std::size_t handler, const Arguments& arguments, std::span<const std::byte> payload = {}) const;

   private:
    friend class ActiveMessages;
    const ActiveMessages* messages_;
    int source_;
    Arguments arguments_;
    std::span<const std::byte> payload_;
  };
  using Handler = std::function<void(const Message&)>;

  /// What a message that is not long may carry.
  static constexpr std::size_t max_payload_bytes = 4096;

  /// Collective: every rank gives as many handlers (up to 65536), which may differ. The team must outlive the table.
  /// Ends collectively as well, when all messages have been handled; but alone on a rank on which something was thrown.
  ActiveMessages(const Team& team, std::vector<Handler> handlers);
  ~ActiveMessages();
  ActiveMessages(const ActiveMessages&) = delete;
  ActiveMessages& operator=(const ActiveMessages&) = delete;

  /// Calls handler `handler` of `peer`, with up to `max_payload_bytes` (else Error), which are copied: returns at
  /// once.
  void call(int peer, std::size_t handler, const Arguments& arguments, std::span<const std::byte> payload = {});

  /// Writes `payload` into the segment, which is of the same team, then calls the handler there. The event is done when
  /// the payload may be changed.
  Event call_long(Pointer<> to, Segment& segment, std::span<const std::byte> payload, std::size_t handler,
                  const Arguments& arguments);

 private:
  struct State;
  void finish() noexcept;
  std::unique_ptr<State> state_;
};

}  // namespace penstock::gas

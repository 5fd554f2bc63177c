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

#pragma GCC visibility push(default)

namespace penstock::gas {

/// A table of handlers that the ranks of a team call on one another.
///
/// A handler runs on the called rank, on whichever of its threads polls or waits in a call of this module, one at a
/// time. It may call `reply`, and nothing else of this module. It should not throw: the exception leaves the call that
/// ran the handler, and what that call waited for is not done.
class ActiveMessages {
 public:
  using Arguments = std::array<std::uint64_t, 3>;

  /// An active message, as its handler sees it.
  class Message {
   public:
    /// The rank that sent it.
    int source() const noexcept { return source_; }
    const Arguments& arguments() const noexcept { return arguments_; }
    /// The payload. Of `call_long` it is the bytes in this rank's part of the segment; of `call` and `reply` it is
    /// valid until the handler returns.
    std::span<const std::byte> payload() const noexcept { return payload_; }
    /// Calls handler `handler` on the source. The payload is copied. Throws Error for more than `max_payload_bytes`
    /// bytes.
    void reply(std::size_t handler, const Arguments& arguments, std::span<const std::byte> payload = {}) const;

   private:
    friend class ActiveMessages;
    const ActiveMessages* messages_;
    int source_;
    Arguments arguments_;
    std::span<const std::byte> payload_;
  };
  using Handler = std::function<void(const Message&)>;

  /// The longest payload of `call` and `reply`.
  static constexpr std::size_t max_payload_bytes = 4096;

  /// Collective: every rank gives the same number of handlers, at most 65536; throws Error on every rank otherwise. The
  /// handlers themselves may differ. The team must outlive the table.
  /// The destructor is collective too: it returns when all messages have been handled. On a rank where an exception is
  /// being handled it waits for nothing.
  ActiveMessages(const Team& team, std::vector<Handler> handlers);
  ~ActiveMessages();
  ActiveMessages(const ActiveMessages&) = delete;
  ActiveMessages& operator=(const ActiveMessages&) = delete;

  /// Calls handler `handler` of `peer`. The payload is copied. Returns at once, except while the queue to a peer whose
  /// memory is mapped is full: the call then waits for room, making progress. Throws Error for more than
  /// `max_payload_bytes` bytes, and for a rank or handler that is not there.
  void call(int peer, std::size_t handler, const Arguments& arguments, std::span<const std::byte> payload = {});

  /// Writes `payload` into the segment, then calls handler `handler` of rank `to.rank`. The event is done when the
  /// payload may be changed. The call may wait as `call` does. Throws Error where rank `to.rank` of the segment's team
  /// is not the same rank of the world as rank `to.rank` of the table's team, and for a rank, a handler or a range of
  /// the segment that does not exist.
  Event call_long(Pointer<> to, Segment& segment, std::span<const std::byte> payload, std::size_t handler,
                  const Arguments& arguments);

 private:
  struct State;
  void finish() noexcept;
  std::unique_ptr<State> state_;
};

}  // namespace penstock::gas

#pragma GCC visibility pop

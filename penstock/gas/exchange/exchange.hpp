// Exchanges whose messages are all known beforehand, repeated in rounds. Included by gas.hpp.
#pragma once

#include <cstddef>
#include <limits>
#include <memory>
#include <vector>

#include "penstock/gas/core/segment.hpp"

namespace penstock::gas {

class ExchangeMethod;
class ExchangeBackend;
class CollectiveRegistry;

/// Of a message that is written when it likes.
inline constexpr std::size_t no_wave = std::numeric_limits<std::size_t>::max();

/// How many waves have buffers at once: one is written, and one is on its way behind one that has all but left.
inline constexpr std::size_t waves_at_once = 3;

/// A message that this rank writes in every round of an exchange: `bytes` bytes at `offset` of `peer`'s segment, where
/// it is number `index` in the list of what the peer receives. Who writes its messages in waves, those of `wave` 0
/// first and then those of 1, needs no memory but for a few waves where it cannot write in place: a wave waits until
/// the one has left whose buffers it takes.
struct Outgoing {
  int peer;
  std::size_t offset;
  std::size_t bytes;
  std::size_t index;
  std::size_t wave = no_wave;
};

/// A message that this rank receives in every round: `bytes` bytes from `peer` at `offset` of its own segment.
struct Incoming {
  int peer;
  std::size_t offset;
  std::size_t bytes;
};

/// How messages travel that are neither written in place nor put.
enum class Carrier {
  fastest,  ///< each as one message of the network
  packets,  ///< in pieces of 32 KiB, which TCP does not ask the receiver for
};

/// A schedule of messages between the ranks of a team, repeated in rounds: all addresses are known beforehand, so that
/// a local peer is written in place, and another one has its receives posted at the final address.
///
/// One round: `open` on each rank; per outgoing message `destination`, write there, `send`; per incoming message
/// `wait`, read it; `finish` when all messages were sent and read. `open` and `finish` are for one thread of a rank;
/// the others may be called by several threads at once, for different outgoing messages. A message of 0 bytes must not
/// be listed. What waits throws Error where the team is revoked (see Team): who cannot go on with a round revokes it.
class Exchange {
 public:
  /// Collective. `team` and `segment` must outlive the exchange. Between two ranks, messages are listed in the same
  /// order on both sides. Throws Error on every rank where a message is not listed by both its ranks or does not lie in
  /// the segment, or one has no memory. `method`: another way than the library's own; it may end before the exchange.
  Exchange(const Team& team, const Segment& segment, std::vector<Outgoing> outgoing, std::vector<Incoming> incoming,
           Carrier carrier = Carrier::fastest, const ExchangeMethod* method = nullptr);
  ~Exchange();
  Exchange(Exchange&&) noexcept;
  Exchange& operator=(Exchange&&) noexcept;

  /// The memory that an exchange takes for messages that it cannot write in place.
  static std::size_t buffer_bytes(const Team& team, const std::vector<Outgoing>& outgoing,
                                  const ExchangeMethod* method = nullptr);

  /// Begins a round: the peers may write this rank's incoming memory from now on.
  void open();

  /// Whether outgoing message `message` may be written: the peer has opened this round, and the message's wave has
  /// buffers; asks the network.
  bool is_open(std::size_t message);

  /// Where outgoing message `message` is to be written: the peer's memory, or a buffer that `send` sends from. Waits
  /// until it may be.
  std::byte* destination(std::size_t message);

  /// Tells the peer that outgoing message `message` is complete; stores that bypassed the cache must be fenced before.
  void send(std::size_t message);

  /// Whether incoming message `message` of this round is complete and visible; asks the network.
  bool has_arrived(std::size_t message);

  /// Waits until it is.
  void wait(std::size_t message);

  /// Whether the buffers of this round may be written again; asks the network.
  bool has_finished();

  /// Has messages that are under way go on, for a caller that computes: networks that the processor drives stand still
  /// where nobody looks at them.
  void progress();

  /// Whether there are such messages.
  bool needs_progress() const noexcept;

  /// Ends a round on the sending side: returns when they may.
  void finish();

 private:
  CollectiveRegistry* calls_;
  std::unique_ptr<ExchangeBackend> way_;
};

}  // namespace penstock::gas

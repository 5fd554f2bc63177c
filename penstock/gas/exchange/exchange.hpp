// Exchanges: a list of messages that is fixed beforehand, repeated in rounds. Included by gas.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "penstock/gas/core/segment.hpp"

#pragma GCC visibility push(default)

namespace penstock::gas {

class ExchangeMethod;
class ExchangeBackend;
class CollectiveRegistry;

/// The wave of a message that belongs to none.
inline constexpr std::size_t no_wave = std::numeric_limits<std::size_t>::max();

/// How many waves have buffers at once: one wave is being written, one is being sent, and one has nearly left.
inline constexpr std::size_t waves_at_once = 3;

/// A message that this rank writes in every round of an exchange: `bytes` bytes at `offset` of `peer`'s segment. There
/// it is number `index` in the list of what the peer receives.
///
/// Messages may be written in waves, wave 0 first, then wave 1, and so on. A rank that does this needs buffers for
/// `waves_at_once` waves only, for messages that it cannot write in place. A wave waits until the wave that used its
/// buffers before has left.
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

/// How messages travel that are neither written in place nor put by the network.
enum class Carrier {
  fastest,  ///< each message as one message of the network
  packets,  ///< in pieces of 32 KiB, which MPI over TCP sends without asking the receiver first
};

/// A schedule of messages between the ranks of a team, repeated in rounds. All addresses are known beforehand: messages
/// to a local peer are written in place, and those to another peer have their receives posted at the final address.
///
/// One round: call `open` on each rank; for each outgoing message call `destination`, write there, call `send`; for
/// each incoming message call `wait`, then read it; call `finish` when all messages are sent and read. One thread of a
/// rank calls `open` and `finish`. Several threads may call the other members at once, for different outgoing messages.
/// Messages of 0 bytes must not be listed. Calls that wait throw Error where the team is revoked (see Team): a rank
/// that cannot go on with a round revokes it.
class Exchange {
 public:
  /// Collective. `team` and `segment` must outlive the exchange. Two ranks must list the messages between them in the
  /// same order. Throws Error on every rank where a message is not listed by both its ranks or does not lie in the
  /// segment, or where one rank has no memory. `method`: another implementation than the library's own; it may be
  /// destroyed before the exchange.
  Exchange(const Team& team, const Segment& segment, std::vector<Outgoing> outgoing, std::vector<Incoming> incoming,
           Carrier carrier = Carrier::fastest, const ExchangeMethod* method = nullptr);
  ~Exchange();
  Exchange(Exchange&&) noexcept;
  Exchange& operator=(Exchange&&) noexcept;

  /// The bytes of buffers that an exchange takes for messages that it cannot write in place.
  static std::size_t buffer_bytes(const Team& team, const std::vector<Outgoing>& outgoing,
                                  const ExchangeMethod* method = nullptr);

  /// Begins a round: the peers may write this rank's incoming memory from now on.
  void open();

  /// Whether outgoing message `message` may be written. The peer must have opened this round if the message is written
  /// in place or put by the network. The message's wave must have buffers if the message is written to a buffer. Where
  /// the peer is not local, polls the network before it returns false.
  bool is_open(std::size_t message);

  /// Waits until outgoing message `message` may be written, and returns where: in the peer's memory, or in a buffer
  /// that `send` sends from.
  std::byte* destination(std::size_t message);

  /// Sends outgoing message `message`, which is complete. Non-temporal stores must be fenced before.
  void send(std::size_t message);

  /// Whether incoming message `message` of this round is complete and visible. Polls the network where messages come
  /// through it.
  bool has_arrived(std::size_t message);

  /// Waits until incoming message `message` has arrived.
  void wait(std::size_t message);

  /// Whether the buffers of this round may be written again. Polls the network.
  bool has_finished();

  /// Makes progress for a caller that computes: some networks move messages only while a processor polls them.
  void progress();

  /// Whether any message of this exchange needs that.
  bool needs_progress() const noexcept;

  /// Ends a round on the sending side: waits until the buffers may be written again.
  void finish();

 private:
  /// What a timeline says of a message: its peer in the world, its length, and the same number on both sides.
  struct Traced {
    int peer;
    std::int64_t bytes;
    std::uint64_t id;
  };

  CollectiveRegistry* calls_;
  std::vector<Traced> outgoing_;
  std::vector<Traced> incoming_;
  std::uint64_t round_ = 0;
  std::unique_ptr<ExchangeBackend> way_;
};

}  // namespace penstock::gas

#pragma GCC visibility pop

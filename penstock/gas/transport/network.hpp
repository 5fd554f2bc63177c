// The interface of networks, which carry messages, puts and gets to ranks whose memory is not mapped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "penstock/gas/core/message.hpp"
#include "penstock/gas/core/operation.hpp"
#include "penstock/gas/core/reach.hpp"

namespace penstock::gas {

/// A piece of memory on every rank: this rank's own, and the addresses of the peers' where they are mapped (else
/// nullptr).
class Region {
 public:
  virtual ~Region() = default;
  std::span<std::byte> mine;
  std::vector<std::byte*> at;
};

/// The longest data that put_then_set copies: see RemoteMemory.
inline constexpr std::size_t max_copied_bytes = 64;

/// An aligned word of 64 bits at byte `offset`, and its new value.
struct Word {
  std::size_t offset;
  std::uint64_t value;
};

/// Memory of a peer that the network reads and writes with no code of the peer's. One thread of a rank calls it at a
/// time. Destroy it before its network; operations that were begun are completed all the same.
class RemoteMemory {
 public:
  virtual ~RemoteMemory() = default;
  /// Begins to write `data` at byte `offset`. `source` is finished when `data` may be changed. `remote`, unless it is
  /// nullptr, is finished when the peer sees these data and all that was put to it before; messages sent to the peer
  /// from then on arrive later.
  virtual void put(std::size_t offset, std::span<const std::byte> data, std::shared_ptr<Completion> source,
                   std::shared_ptr<Completion> remote) = 0;
  /// As `put`, and sets a word in memory of the same peer behind the data: a peer that sees the word sees the data.
  /// Where the network keeps order, no code runs at the peer and the word does not wait for an acknowledgement. There
  /// `source` may be nullptr for data of up to `max_copied_bytes`, which are copied.
  virtual void put_then_set(std::size_t offset, std::span<const std::byte> data, RemoteMemory& words, const Word& word,
                            std::shared_ptr<Completion> source) = 0;
  /// Begins to read at byte `offset`. `done` is finished when the bytes are in `data`.
  virtual void get(std::size_t offset, std::span<std::byte> data, std::shared_ptr<Completion> done) = 0;
};

/// A network: messages to and from peers, in order between two ranks, and memory that ranks expose to one another. One
/// thread of a rank calls it at a time.
class Network {
 public:
  virtual ~Network() = default;
  virtual NetworkTraits traits() const noexcept = 0;
  /// Begins to send. A request for an answer may be kept until the next `progress`, to travel in a packet with others.
  /// A payload of up to `max_inline_bytes` is copied; a longer one must stay until `sent` is finished.
  virtual void send(int peer, const Header& header, std::span<const std::byte> payload,
                    std::shared_ptr<Completion> sent) = 0;
  /// Makes progress: finishes transfers, and delivers some of the messages that have arrived to `inbox`. Returns
  /// whether there may be more. Throws Error when a peer has failed.
  virtual bool progress(Inbox& inbox) = 0;

  /// Memory of `bytes` bytes, zeroed and touched, into which peers of this host put faster than into other memory;
  /// nullptr where the network has none. The memory may outlive the network.
  virtual std::unique_ptr<Region> allocate(std::size_t /*bytes*/) { return nullptr; }
  /// Exposes this rank's memory to all peers, until `withdraw`. Returns the key that the peers need. Returns nothing
  /// where the network cannot read and write this memory itself: the memory is then reached by messages.
  virtual std::vector<std::byte> expose(const Region& /*region*/) { return {}; }
  virtual void withdraw(std::span<std::byte> /*memory*/) {}
  /// The memory of `peer` that its `key` names; nullptr where the key is empty.
  virtual std::shared_ptr<RemoteMemory> reach(int /*peer*/, std::span<const std::byte> /*key*/) { return nullptr; }
};

}  // namespace penstock::gas

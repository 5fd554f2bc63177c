// The joint between the address space and what carries its messages and puts to ranks whose memory is not mapped.
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

/// Memory of every rank: one's own, and that of the peers whose memory is mapped here (else nullptr).
class Region {
 public:
  virtual ~Region() = default;
  std::span<std::byte> mine;
  std::vector<std::byte*> at;
};

/// See RemoteMemory::put_then_set.
inline constexpr std::size_t max_copied_bytes = 64;

/// 64 bits at byte `offset`, aligned, and what they become.
struct Word {
  std::size_t offset;
  std::uint64_t value;
};

/// Memory of a peer that the network itself reads and writes, with no help of code there. Called by one thread of a
/// rank at a time. To be let go before its network; what was begun is completed all the same.
class RemoteMemory {
 public:
  virtual ~RemoteMemory() = default;
  /// Begins to write `data` at byte `offset`. `source` is finished when `data` may be changed, `remote`, unless that is
  /// nullptr, when the peer sees it and all that was put to it before: what is sent to it from then on arrives after.
  virtual void put(std::size_t offset, std::span<const std::byte> data, std::shared_ptr<Completion> source,
                   std::shared_ptr<Completion> remote) = 0;
  /// The same, and behind it sets a word of memory of the same peer, which sees the data where it sees the word. No
  /// code runs there, and nothing comes back before the word leaves, where the network keeps order by itself: there
  /// `source` may be nullptr of up to `max_copied_bytes`, which are copied.
  virtual void put_then_set(std::size_t offset, std::span<const std::byte> data, RemoteMemory& words, const Word& word,
                            std::shared_ptr<Completion> source) = 0;
  /// Begins to read at byte `offset`. `done` is finished when it is in `data`.
  virtual void get(std::size_t offset, std::span<std::byte> data, std::shared_ptr<Completion> done) = 0;
};

/// Messages to and from peers, in order between two ranks, and memory that they open to one another. Called by one
/// thread of a rank at a time.
class Network {
 public:
  virtual ~Network() = default;
  virtual NetworkTraits traits() const noexcept = 0;
  /// Begins to send; what asks for an answer may be kept until the next `progress`, to travel with others. A payload of
  /// up to `max_inline_bytes` is copied; a longer one must stay until `sent` is finished.
  virtual void send(int peer, const Header& header, std::span<const std::byte> payload,
                    std::shared_ptr<Completion> sent) = 0;
  /// Finishes what was begun and hands over some of what has arrived: true where there may be more. Throws Error when
  /// a peer has failed.
  virtual bool progress(Inbox& inbox) = 0;

  /// Memory of `bytes` bytes, zeroed and touched, into which peers of this host put faster than into other memory;
  /// nullptr where there is none. It may outlive the network.
  virtual std::unique_ptr<Region> allocate(std::size_t /*bytes*/) { return nullptr; }
  /// Opens one's own memory to all peers, until `withdraw`. Returns the key that they are to be told; nothing where
  /// this network does not read and write memory, or not this one: it is reached by messages then.
  virtual std::vector<std::byte> expose(const Region& /*region*/) { return {}; }
  virtual void withdraw(std::span<std::byte> /*memory*/) {}
  /// The memory to which `peer` has got `key`; nullptr where the key is empty.
  virtual std::shared_ptr<RemoteMemory> reach(int /*peer*/, std::span<const std::byte> /*key*/) { return nullptr; }
};

}  // namespace penstock::gas

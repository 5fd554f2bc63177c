// The joint between the address space and what carries it: a narrow set of operations that every transport offers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "penstock/base/wait.hpp"

namespace penstock::gas {

/// Memory of every rank: one's own, and that of the peers whose memory is mapped here (else nullptr).
class Region {
 public:
  virtual ~Region() = default;
  std::span<std::byte> mine;
  std::vector<std::byte*> at;
};

/// A message that is sent or received again and again between fixed addresses.
class Channel {
 public:
  virtual ~Channel() = default;
  /// Begins the transfer; the last one has completed.
  virtual void start() = 0;
  /// Whether the transfer begun last has completed (true before the first). Drives the network forward.
  virtual bool test() = 0;
};

/// A put that arrives as a message: where it goes in the target's segment and which signal it raises.
struct PutHeader {
  std::uint64_t segment;
  std::uint64_t offset;
  std::uint64_t bytes;
  std::uint64_t signal;
};

/// What a segment does with puts that arrive as messages: `address` says where the data goes, `complete` raises the
/// signal once it is there.
struct PutTarget {
  std::function<std::byte*(const PutHeader&)> address;
  std::function<void(const PutHeader&)> complete;
};

/// One rank's view of a team's transport. The members are collective where they say so.
class Transport {
 public:
  virtual ~Transport() = default;

  virtual int rank() const noexcept = 0;
  virtual int size() const noexcept = 0;
  virtual std::string_view name() const noexcept = 0;
  virtual bool is_local(int peer) const noexcept = 0;
  virtual bool allows_threads() const noexcept = 0;

  /// Collective.
  virtual void barrier() = 0;
  /// Collective: every rank gives `bytes` bytes; `all` receives size() times as many.
  virtual void all_gather(const void* mine, std::size_t bytes, void* all) = 0;
  /// Collective.
  virtual std::unique_ptr<Transport> split(int color, int key) = 0;
  /// Collective: memory of `bytes` bytes on this rank, mapped by the local peers. Fails on every rank or on none.
  virtual std::unique_ptr<Region> map(std::size_t bytes) = 0;

  /// A repeated message to or from a peer that is not local. The k-th channel that a rank makes towards a peer ends in
  /// the k-th that the peer makes from it; messages of different channels do not meet, in whatever order they are sent.
  virtual std::unique_ptr<Channel> send_channel(int peer, std::span<const std::byte> data);
  virtual std::unique_ptr<Channel> receive_channel(int peer, std::span<std::byte> data);

  /// Registers what to do with puts to segment `id`; forgets it when the target is empty.
  virtual void set_put_target(std::uint64_t id, PutTarget target);
  /// Sends a put to a peer that is not local; returns when `data` may be changed. Serves incoming puts while it waits.
  virtual void put(int peer, const PutHeader& header, std::span<const std::byte> data);
  /// Receives the puts that have come in; called again and again by whoever waits for a signal.
  virtual void serve_puts();

  /// Throws Error when the team can go on no more because a peer has failed.
  virtual void check_peers() const;

  /// A number that grows with every call; the same on all ranks where they call it in the same order.
  std::uint64_t next_id() noexcept { return ++last_id_; }

 private:
  std::uint64_t last_id_ = 0;
};

/// Waits until `is_done()`, giving up with an Error when a peer has failed.
template <class Condition>
void wait_with_peers(const Transport& transport, Condition is_done) {
  for (Backoff backoff; !is_done();) {
    transport.check_peers();
    backoff.pause();
  }
}

}  // namespace penstock::gas

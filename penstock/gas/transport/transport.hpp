// The joint between the address space and what carries it: a narrow set of operations that every transport offers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "penstock/base/error.hpp"
#include "penstock/base/wait.hpp"
#include "penstock/gas/core/team.hpp"
#include "penstock/gas/transport/network.hpp"

namespace penstock::gas {

/// A message that is sent or received again and again between fixed addresses.
class Channel {
 public:
  virtual ~Channel() = default;
  /// Begins the transfer; the last one has completed.
  virtual void start() = 0;
  /// Whether the transfer begun last has completed (true before the first). Drives the network forward.
  virtual bool test() = 0;
};

/// One rank's view of a team's transport. The members are collective where they say so.
class Transport {
 public:
  virtual ~Transport() = default;

  virtual int rank() const noexcept = 0;
  virtual int size() const noexcept = 0;
  /// But for the network's.
  virtual TransportTraits traits() const = 0;
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
  /// They travel in pieces of `piece_bytes`, the same on both sides.
  virtual std::unique_ptr<Channel> send_channel(int peer, std::span<const std::byte> data, std::size_t piece_bytes);
  virtual std::unique_ptr<Channel> receive_channel(int peer, std::span<std::byte> data, std::size_t piece_bytes);

  /// Runs `work` while no other thread of this rank calls MPI for the transport's world.
  virtual void under_mpi_lock(const std::function<void()>& work) { work(); }

  /// Collective: what carries messages to the peers that are not local; nullptr where all are.
  virtual std::unique_ptr<Network> make_network() { return nullptr; }

  bool are_all_local() const noexcept;

  /// Throws Error when the team can go on no more because a peer has failed.
  virtual void check_peers() const {}
  /// The same, but polls at once where check_peers() polls now and then: for a rank that has seen a failure and wants
  /// to know whether that is the cause.
  virtual void check_peers_now() const { check_peers(); }

  /// For a wait that takes long: what else the program has asked of MPI goes on, as a peer may wait for the end of that
  /// before it does what is waited for here.
  virtual void let_mpi_go_on() const {}

  /// How many collective calls of this transport have completed here: the same calls are counted on every rank.
  std::uint64_t completed() const noexcept { return completed_; }

  /// The team is used no more, and its ranks do not end in order: what is under way is left to MPI.
  virtual void abandon() noexcept {}

  /// Called again and again while a collective call waits, so that peers that want something meanwhile are served.
  void set_while_waiting(std::function<void()> serve) { serve_ = std::move(serve); }

 protected:
  void count_completed() noexcept { ++completed_; }

  /// Waits until `is_done()`, serving peers.
  template <class Condition>
  void wait_serving(const Condition& is_done) const {
    for (Backoff backoff; !is_done();) {
      check_peers();
      if (serve_) {
        serve_();
      }
      backoff.pause();
    }
  }

 private:
  std::function<void()> serve_;
  std::uint64_t completed_ = 0;
};

/// Collective: throws TeamFailure on every rank where `failure` is not empty on one, with the first such text.
void throw_if_any_failed(Transport& transport, std::string_view failure);

/// Collective: runs `work` on every rank, then throws Error on all where it threw on one, or found no memory.
template <class Work>
void on_all(Transport& transport, const Work& work) {
  throw_if_any_failed(transport, failure_of(transport.rank(), work));
}

}  // namespace penstock::gas

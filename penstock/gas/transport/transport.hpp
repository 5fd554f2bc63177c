// The interface of transports: the operations that the address space needs of whatever connects its ranks.
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

/// A message that is sent or received repeatedly between fixed addresses.
class Channel {
 public:
  virtual ~Channel() = default;
  /// Begins the transfer. The previous transfer must have completed.
  virtual void start() = 0;
  /// Whether the transfer begun last has completed (true before the first). Makes progress.
  virtual bool test() = 0;
};

/// One rank's view of a team's transport. Members are collective where their comments say so.
class Transport {
 public:
  virtual ~Transport() = default;

  virtual int rank() const noexcept = 0;
  virtual int size() const noexcept = 0;
  /// The traits without those of the network.
  virtual TransportTraits traits() const = 0;
  virtual bool is_local(int peer) const noexcept = 0;
  virtual bool allows_threads() const noexcept = 0;

  /// Collective.
  virtual void barrier() = 0;
  /// Collective: every rank gives `bytes` bytes; `all` receives size() times as many, in order of rank.
  virtual void all_gather(const void* mine, std::size_t bytes, void* all) = 0;
  /// Collective.
  virtual std::unique_ptr<Transport> split(int color, int key) = 0;
  /// Collective: memory of `bytes` bytes on this rank, which may differ between ranks, mapped by the local peers.
  /// Throws on every rank or on none.
  virtual std::unique_ptr<Region> map(std::size_t bytes) = 0;

  /// Channels to and from a peer that is not local. The k-th channel that a rank makes to a peer is connected with the
  /// k-th that the peer makes from that rank. Messages of different channels are independent, in whatever order they
  /// are sent. A message travels in pieces of `piece_bytes`, the same on both sides.
  virtual std::unique_ptr<Channel> send_channel(int peer, std::span<const std::byte> data, std::size_t piece_bytes);
  virtual std::unique_ptr<Channel> receive_channel(int peer, std::span<std::byte> data, std::size_t piece_bytes);

  /// Runs `work` while no other thread of this rank calls MPI for the transport's world.
  virtual void under_mpi_lock(const std::function<void()>& work) { work(); }

  /// Collective: the network to the peers that are not local; nullptr where all are local.
  virtual std::unique_ptr<Network> make_network() { return nullptr; }

  bool are_all_local() const noexcept;

  /// Throws Error when the team cannot go on because a peer has failed. Polls the system now and then only.
  virtual void check_peers() const {}
  /// As check_peers, but polls the system at once: for a rank that has seen a failure, to learn whether a dead peer is
  /// the cause.
  virtual void check_peers_now() const { check_peers(); }

  /// For long waits: lets MPI progress what else the program has asked of it. A peer may wait for the end of that
  /// before it does what this rank waits for.
  virtual void let_mpi_go_on() const {}

  /// How many waits of this transport's collective calls have completed here. All ranks count the same waits.
  std::uint64_t completed() const noexcept { return completed_; }

  /// To be called before the end of a revoked team, whose ranks do not end in order: transfers under way are left to
  /// MPI.
  virtual void abandon() noexcept {}

  /// Sets the function that is called repeatedly while a collective call waits, so that peers are served meanwhile.
  void set_while_waiting(std::function<void()> serve) { serve_ = std::move(serve); }

 protected:
  void count_completed() noexcept { ++completed_; }

  /// Waits until `is_done()`, and serves peers meanwhile. Throws as check_peers and the function above do.
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

/// Collective: throws TeamFailure on every rank where `failure` is not empty on some rank, with the text of the lowest
/// such rank.
void throw_if_any_failed(Transport& transport, std::string_view failure);

/// Collective: runs `work` on every rank, then throws Error on all ranks where `work` threw on one.
template <class Work>
void on_all(Transport& transport, const Work& work) {
  throw_if_any_failed(transport, failure_of(transport.rank(), work));
}

}  // namespace penstock::gas

// Notices that a process of this node has died; no message would report it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <stop_token>
#include <thread>
#include <vector>

#include "penstock/base/memory.hpp"

namespace penstock {
struct SharedMemoryTicket;
}

namespace penstock::gas {

class PeerFailure;
class Transport;

/// Watches the processes that share this rank's node. A process that ends after its watch has ended has left in order;
/// one that ends before has died. Those of other nodes, and those that this system does not let us watch (another
/// process namespace), are the launcher's to notice. Thread-safe.
class PeerWatch {
 public:
  PeerWatch() = default;
  /// Collective over `transport`, once; equal `nodes` tell ranks that share a node. Before it, no process is watched.
  void begin(Transport& transport, std::span<const int> nodes);
  /// From now on this process may end.
  ~PeerWatch();
  PeerWatch(const PeerWatch&) = delete;
  PeerWatch& operator=(const PeerWatch&) = delete;

  /// Whether a process has died. Costs next to nothing: it asks the system once in many calls.
  bool has_failed();

  /// Throws PeerFailure when a process has died, and counts as having left then.
  void check();
  /// The same, but asks the system at once.
  void check_now();

  /// For calls that may never return where a peer has died (MPI's one-sided ones): a thread of this watch ends the
  /// process, with the rank's message, where such a call has not returned a second after a death. `begin_call` and
  /// `end_call` go around each, by one thread at a time.
  void guard_calls();
  void begin_call() noexcept { calls_begun_and_ended_.fetch_add(1, std::memory_order_relaxed); }
  void end_call() noexcept { calls_begun_and_ended_.fetch_add(1, std::memory_order_relaxed); }

 private:
  struct Peer {
    int rank = 0;
    std::int64_t process = 0;
    int descriptor = -1;  // a pidfd: readable once the process has ended
    Memory page = {};
    bool has_ended = false;
    bool has_died = false;
  };

  void watch(int rank, const SharedMemoryTicket& ticket);
  void leave();
  bool poll();
  PeerFailure failure();
  [[noreturn]] void fail();
  void guard(const std::stop_token& stop);

  Memory mine_;
  std::vector<Peer> peers_;
  std::atomic<unsigned> calls_{0};
  std::mutex polling_;
  std::atomic<bool> has_failed_{false};
  std::atomic<bool> is_spokesman_{false};
  std::atomic<std::uint64_t> calls_begun_and_ended_{0};
  std::jthread guard_;  // joined before what it looks at goes
};

}  // namespace penstock::gas

// The progress engine of a rank: it sends and receives the messages and one-sided operations of all teams of a world.
// Private to the module.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "penstock/base/wait.hpp"
#include "penstock/gas/core/message.hpp"
#include "penstock/gas/core/operation.hpp"
#include "penstock/gas/transport/network.hpp"
#include "penstock/gas/transport/shm/node_memory.hpp"
#include "penstock/gas/transport/shm/ring.hpp"
#include "penstock/gas/transport/transport.hpp"
#include "penstock/mover/mover.hpp"

namespace penstock::gas {

/// An operation that a peer answers.
class Request : public Operation {
 public:
  bool is_done() const noexcept override { return is_done_.load(std::memory_order_acquire); }
  void check() const override;
  void abandon() noexcept override;
  /// Where the answer's payload goes; called once before it arrives.
  virtual std::byte* place(const Header&) { return nullptr; }
  /// The answer is here; `payload` where it is not in its place already.
  virtual void take(const Header&, std::span<const std::byte>) {}

 private:
  friend class Engine;
  bool is_placed_ = false;    // the network has the place of the answer
  bool is_given_up_ = false;  // nobody wants the answer any more
  std::string failure_;       // not empty where the peer has refused
  std::atomic<bool> is_done_ = false;
};

/// A part of a segment as messages see it.
struct SegmentPart {
  std::byte* data;
  std::size_t bytes;
  /// Of a signal: sets it to `value`, or of 0 adds one.
  std::function<void(std::uint64_t signal, std::uint64_t value)> change;
};

/// Runs the handlers of one table, on the thread that makes progress. The payload is nullopt of a long message
/// whose segment this rank has freed: that is an error, and the message counts as handled.
using ActiveTable = std::function<void(int source, const Header&, std::optional<std::span<const std::byte>>)>;

/// The receiver of a team's collective messages, which also advances the calls that wait for something else.
class CallInbox {
 public:
  virtual ~CallInbox() = default;
  virtual void deliver(const Header& header, std::span<const std::byte> payload) = 0;
  /// Called whenever progress is made, with the progress lock held.
  virtual void advance() = 0;
};

/// One rank's progress: it moves the messages of the queues within the node and of the network, and matches requests
/// with their answers. All teams of a world share it; it knows their ranks by the rank in the world. Thread-safe.
class Engine final : public Inbox {
 public:
  /// Collective. `has_processors`: whether this rank's local ranks are no more than the processors that they may use.
  Engine(std::shared_ptr<Transport> world, bool has_processors);
  ~Engine() override;
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  int rank() const noexcept { return world_->rank(); }
  bool is_local(int peer) const noexcept { return local_[static_cast<std::size_t>(peer)] != nullptr; }
  /// What carries messages to ranks that are not local; nothing where all are.
  std::optional<NetworkTraits> network_traits() const {
    return network_ == nullptr ? std::nullopt : std::optional(network_->traits());
  }
  const NodeMemory& node_memory() const noexcept { return node_memory_; }
  /// With the progress lock held: the number of the first poll of the queues that begins after now.
  std::uint64_t next_poll() const noexcept { return polls_ + (is_polling_ ? 2 : 1); }
  /// With the progress lock held: whether that poll has been done: then all that local peers sent before it is known.
  bool has_polled(std::uint64_t poll) const noexcept { return polls_ >= poll; }
  /// Throws PeerFailure when a process of this node has died.
  void check_peers_now() const { world_->check_peers_now(); }

  /// Sends a message. Returns at once, except while the queue to a local peer is full: it then waits for room, making
  /// progress. `sent` is done when the payload may be changed. `sent` may be nullptr where the payload stays, or where
  /// the payload is at most `max_inline_bytes` long: such payloads are copied.
  void send(int peer, const Header& header, std::span<const std::byte> payload,
            std::shared_ptr<Completion> sent = nullptr);
  /// Runs `work` while no other thread of this rank makes progress: it holds the progress lock, as handlers do.
  template <class Work>
  void under_lock(const Work& work) {
    const std::scoped_lock lock(mutex_);
    work();
  }
  /// With the progress lock held: as `send`, but never waits. A message for which the queue has no room is kept, and
  /// written as soon as there is room.
  void send_locked(int peer, const Header& header, std::span<const std::byte> payload,
                   std::shared_ptr<Completion> sent = nullptr);
  /// With the progress lock held: whether all that was sent to a local peer is in its queue.
  bool has_flushed(int peer) const noexcept { return local_[static_cast<std::size_t>(peer)]->waiting.empty(); }
  /// With the progress lock held, to a local peer: false where its queue has no room yet, so that nothing is sent.
  bool try_send_locked(int peer, const Header& header, std::span<const std::byte> payload);
  /// Sends a request; may wait as `send` does. The number that `ask` puts into `header` identifies the answer.
  void ask(int peer, Header header, std::span<const std::byte> payload, const std::shared_ptr<Request>& request,
           std::shared_ptr<Completion> sent = nullptr);

  /// Memory that peers of this host put into faster than into other memory, as Network has it.
  std::unique_ptr<Region> allocate(std::size_t bytes);
  /// The key with which peers read and write this rank's memory through the network, until it is withdrawn; empty where
  /// they cannot.
  std::vector<std::byte> expose(const Region& region);
  /// Withdraws `memory`, unless it is empty, and releases the handles `reached` to memory of peers.
  void withdraw(std::span<std::byte> memory, std::vector<std::shared_ptr<RemoteMemory>> reached);
  /// Keeps memory that peers may still write, until the engine ends.
  void keep(std::unique_ptr<Region> memory);
  /// The memory of a peer that is not local, named by the peer's `key`; nullptr where the key is empty.
  std::shared_ptr<RemoteMemory> reach(int peer, std::span<const std::byte> key);
  /// Begins to write `data` at `offset` of the memory of `peer`; `source` and `remote` as RemoteMemory has them.
  void put(RemoteMemory& memory, std::size_t offset, std::span<const std::byte> data,
           std::shared_ptr<Completion> source, std::shared_ptr<Completion> remote);
  /// As `put`. When the data are in the peer's memory, sends `message` to the peer and then finishes `source`: a rank
  /// that has waited for `source` need not wait for the message.
  void put_then_send(int peer, RemoteMemory& memory, std::size_t offset, std::span<const std::byte> data,
                     const Header& message, std::shared_ptr<Completion> source, std::shared_ptr<Completion> remote);
  /// As RemoteMemory has it.
  void put_then_set(RemoteMemory& memory, std::size_t offset, std::span<const std::byte> data, RemoteMemory& words,
                    const Word& word, std::shared_ptr<Completion> source);
  /// Begins to read at `offset`.
  void get(RemoteMemory& memory, std::size_t offset, std::span<std::byte> data, std::shared_ptr<Completion> done);

  /// Takes what has arrived; returns without that where another thread of this rank holds the progress lock. Throws
  /// Error when a peer has failed.
  void progress();

  /// For a caller that an exception ends: returns when nothing reads or writes the memory that the operation was given.
  /// Makes progress meanwhile, for at most two seconds.
  void abandon(Operation& operation) noexcept;

  /// For a rank that fails: returns when all messages to local peers are in their queues. Makes progress meanwhile, for
  /// at most two seconds.
  void flush_queues() noexcept;

  /// Records an exception of a thread that nothing catches; the next `progress` of another thread throws it.
  void fail(std::exception_ptr failure);

  /// Waits until `is_done()`, making progress.
  template <class Condition>
  void wait(const Condition& is_done) {
    if (is_done()) {
      return;
    }
    bool may_have_more = false;
    for (Backoff backoff(patience_.spins); !comes_from_peers(is_done);) {
      // After each message of the network it is seen whether it was that: to ask for the next costs a call of the
      // system.
      may_have_more = take_some();
      if (is_done()) {
        break;
      }
      if (may_have_more) {
        backoff = Backoff(patience_.spins);
      } else {
        if (backoff.is_sleeping()) {
          world_->let_mpi_go_on();
        }
        backoff.pause();
      }
    }
    if (may_have_more) {
      answer_puts();
    }
  }

  /// The movers of layouts that were named in puts and gets.
  mover::Cache& movers() noexcept { return movers_; }

  /// Registers what messages may name, by a number that peers are to be told.
  std::uint32_t add_segment(SegmentPart part);
  void remove_segment(std::uint32_t id);
  /// Tells where segment `id` of a local peer, which is part of this rank's segment `own`, is mapped here.
  void map_segment(std::uint32_t own, int peer, std::uint32_t id, std::byte* data);
  /// With the progress lock held: where that is, or nullptr.
  std::byte* mapped(int peer, std::uint32_t id) const;
  /// A place in one of this rank's own segments; segment 0 where there is none.
  struct SegmentAddress {
    std::uint32_t segment = 0;
    std::uint64_t offset = 0;
  };
  /// With the progress lock held: where this memory lies.
  SegmentAddress address_of(const std::byte* first, const std::byte* last) const;
  std::uint32_t add_table(ActiveTable table);
  void remove_table(std::uint32_t id);
  std::uint32_t add_calls(CallInbox& calls);
  /// With the progress lock held: so many calls more are under way, or fewer.
  void count_calls(std::ptrdiff_t more) noexcept { calls_under_way_ += more; }
  void remove_calls(std::uint32_t id);

 private:
  struct Waiting {
    Header header;
    std::vector<std::byte> payload;
  };
  /// A message that follows a put.
  struct Follower {
    std::shared_ptr<Completion> put;
    int peer;
    Header message;
    std::shared_ptr<Completion> sent;
  };
  struct LocalPeer {
    RingWriter to;
    RingReader from;
    std::deque<Waiting> waiting;  // for room in `to`
  };

  /// How often a wait polls the queues of this node before it polls the network, and how often it does both before
  /// it yields. A poll of the queues costs some nanoseconds, asking a network one or two thousand, asking for dead
  /// peers a hundred.
  struct Patience {
    int polls = 1;
    int spins = 0;
  };
  static Patience patience_for(std::size_t local_ranks, bool has_processors, bool is_put_to);

  struct Mapped {
    std::uint32_t own;
    std::byte* data;
  };
  static std::uint64_t mapped_key(int peer, std::uint32_t id) {
    return static_cast<std::uint64_t>(static_cast<std::uint32_t>(peer)) << 32 | id;
  }

  /// Looks for a while at the queues, and at what peers write by themselves.
  template <class Condition>
  bool comes_from_peers(const Condition& is_done) {
    for (int i = 0; i < patience_.polls; ++i) {
      if (local_ranks_.size() > 1) {
        take_local();
      }
      if (is_done()) {
        return true;
      }
      relax();
    }
    return false;
  }

  /// Makes progress until `is_done()`, which is asked under the lock, for at most two seconds; what is thrown meanwhile
  /// is dropped.
  template <class Condition>
  void serve_while_failing(const Condition& is_done) noexcept;
  /// Takes some of what is there, as whoever holds the progress lock; true where the network may have more.
  bool take_locked();
  /// The same for any thread: false where another one is at it. Throws Error when a peer has failed.
  bool take_some();
  void take_local();
  void take_from_queues();
  bool take_from_network();
  void advance_calls();
  std::byte* place(int source, const Header& header) override;
  void deliver(int source, const Header& header, std::span<const std::byte> payload) override;
  void answer(int peer, const Header& asked, Header reply, std::span<const std::byte> payload,
              std::shared_ptr<Completion> sent = nullptr);
  void flush(LocalPeer& peer);
  void answer_puts();
  void send_acks();
  void send_followers();
  SegmentPart* part(std::uint64_t id) noexcept;
  std::byte* make_parcel(std::size_t bytes);
  void serve(int source, const Header& header, std::span<const std::byte> payload);
  void run_handler(int source, const Header& header, std::span<const std::byte> payload);
  template <class Take>
  void finish_request(std::uint64_t cookie, const Take& take);
  void take_answer(int source, const Header& header, std::span<const std::byte> payload);

  std::shared_ptr<Transport> world_;
  std::mutex mutex_;
  std::unique_ptr<Region> rings_;
  std::vector<std::unique_ptr<LocalPeer>> local_;  // by rank; nullptr where not local
  std::vector<int> local_ranks_;
  std::uint64_t polls_ = 0;  // of all queues, which have been done
  bool is_polling_ = false;
  Patience patience_;
  NodeMemory node_memory_;
  std::vector<std::unique_ptr<Region>> kept_;
  std::unique_ptr<Network> network_;
  bool network_may_have_more_ = false;
  std::vector<Follower> followers_;
  std::unordered_map<std::uint64_t, std::shared_ptr<Request>> requests_;
  std::uint64_t last_cookie_ = 0;
  std::vector<std::vector<CookieRun>> acks_;  // by rank: the puts that are to be answered
  std::vector<int> owed_acks_;                // the ranks that have some
  std::unordered_map<std::uint32_t, SegmentPart> segments_;
  std::unordered_map<std::uint64_t, Mapped> mapped_;  // by mapped_key
  std::unordered_map<std::uint32_t, ActiveTable> tables_;
  std::unordered_map<std::uint32_t, CallInbox*> calls_;
  std::ptrdiff_t calls_under_way_ = 0;  // on all teams: mostly there are none
  std::uint32_t last_id_ = 0;
  // Long payloads that do not go straight to their place, by where they are received.
  std::unordered_map<const std::byte*, std::vector<std::byte>> parcels_;
  mover::Cache movers_{max_movers};
  std::atomic<bool> has_failed_ = false;
  std::exception_ptr failure_;

  // Programs name few layouts again and again; a mover is some hundred bytes and its lists.
  static constexpr std::size_t max_movers = 1024;
};

}  // namespace penstock::gas

// The global address space: ranks and teams, segments that peers read and write, signals, atomic operations, active
// messages, and scheduled exchanges; with event.hpp and collectives.hpp, which it includes.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <type_traits>
#include <vector>

#include "penstock/base/config.hpp"
#include "penstock/base/error.hpp"
#include "penstock/gas/collectives.hpp"
#include "penstock/gas/event.hpp"
#include "penstock/gas/reach.hpp"
#include "penstock/layout/layout.hpp"

#if PENSTOCK_HAS_MPI
#include <mpi.h>
#endif

namespace penstock::gas {

class TeamCalls;
class Transport;

/// Thrown by what waits, on every rank that shares a node with a process that has died. The launcher commonly ends
/// such a run; where it does not, the ranks learn of it by this, within a second of waiting.
class PeerFailure : public Error {
 public:
  PeerFailure(const std::string& message, bool is_spokesman) : Error(message), is_spokesman_(is_spokesman) {}
  /// True on one of the ranks that notice: that which is to tell the user, so that the message comes once.
  bool is_spokesman() const noexcept { return is_spokesman_; }

 private:
  bool is_spokesman_;
};

/// An ordered group of ranks that communicate; the first is rank 0. The world is the team of all ranks.
///
/// Movable, not copyable; cheap to keep. Members marked collective must be called by every rank of the team, in the
/// same order. A team may be used by one thread of each rank at a time.
///
/// What peers ask of a rank whose memory they do not map (a put, a get, an atomic operation) and what calls its
/// handlers is served while the rank waits in any call of this module, or polls.
class Team {
 public:
  /// Collective: the world that a transport reaches.
  explicit Team(std::unique_ptr<Transport> transport);
  ~Team();
  Team(Team&&) noexcept;
  Team& operator=(Team&&) noexcept;

  int rank() const noexcept { return rank_; }
  int size() const noexcept { return size_; }

  /// What carries data between its ranks: "threads", "shm", "mpi", "rma", "ucx", or "shm+mpi" and so on where both do.
  std::string_view transport_name() const;

  /// Whether `peer`'s segments can be read and written with plain loads and stores.
  bool is_local(int peer) const;

  /// Whether any thread of a rank may communicate, one at a time. Not so only where the program initialised MPI for a
  /// single thread and some peers are reached through a network.
  bool allows_threads() const;

  /// Collective: the ranks that give the same `color` become a team, ordered by `key`, then by rank in this team.
  Team split(int color, int key) const;

  /// Collective: returns when every rank has called it.
  void barrier() const;

  /// Serves what peers have asked for meanwhile.
  void poll() const;

  /// Collective: every rank's value, in order of rank. T is trivially copyable.
  template <class T>
  std::vector<T> all_gather(const T& mine) const {
    std::vector<T> all(static_cast<std::size_t>(size_));
    all_gather_bytes(std::as_bytes(std::span(&mine, 1)), std::as_writable_bytes(std::span(all)));
    return all;
  }

  /// Collective: agrees on failure. `failure` says what is wrong on this rank, or is empty. Where no rank has failed it
  /// returns; else it throws Error on every rank, with the message of the lowest rank that failed.
  void agree(std::string_view failure) const;

  /// Collective: throws Error on every rank where `text` is not the same on all; `what` names it in the message.
  void agree_on(std::string_view what, std::string_view text) const;

  /// Collective: runs `work` on every rank, then agrees: where it throws Error on one, or finds no memory, all
  /// throw Error. `work` itself must not be collective.
  template <class Work>
  void together(Work&& work) const {
    std::string failure;
    try {
      work();
    } catch (const Error& error) {
      failure = error.what();
    } catch (const std::bad_alloc&) {
      failure = "rank " + std::to_string(rank_) + " has run out of memory";
    }
    agree(failure);
  }

  /// Collective, to be called before memory is taken: throws Error on every rank where the ranks of some node want
  /// together more than `budget_bytes`, or, if that is 0, than the node has left. `bytes` is this rank's want; the
  /// message begins with `what` ("a plan for 64x64x64").
  void require_memory(std::string_view what, std::uint64_t bytes, std::uint64_t budget_bytes) const;

  Transport& transport() const noexcept { return *transport_; }
  Engine& engine() const noexcept { return *engine_; }
  /// The rank in the world of a rank of this team.
  int world_rank(int rank) const { return world_ranks_[static_cast<std::size_t>(rank)]; }
  TeamCalls& calls() const noexcept { return *calls_; }

 private:
  Team(std::unique_ptr<Transport> transport, std::shared_ptr<Engine> engine, int world_rank);
  void join(int world_rank);
  void all_gather_bytes(std::span<const std::byte> mine, std::span<std::byte> all) const;

  std::shared_ptr<Transport> transport_;
  std::shared_ptr<Engine> engine_;  // of the world, for all teams of it
  std::vector<int> world_ranks_;
  int rank_ = 0;
  int size_ = 0;
  std::unique_ptr<TeamCalls> calls_;  // the collective calls that are under way
};

/// This rank's row and column of a grid of ranks.
struct GridTeams {
  Team row;     ///< the `columns` ranks of this rank's row, in order
  Team column;  ///< the `rows` ranks of its column
};

/// Collective: lays the team's ranks out as `rows` times `columns`, row by row. Throws Error on every rank where that is
/// not the team's size.
GridTeams split_grid(const Team& team, int rows, int columns);

/// The team of this process alone: rank 0 of 1. No MPI is needed or called.
Team world_alone();

/// Runs `body` on `ranks` threads of this process, each a rank with a team of its own making ("threads" transport), and
/// returns when all have ended. Where one throws, the others' waits throw too and the first exception is rethrown.
void run_world(int ranks, const std::function<void(Team&)>& body);

#if PENSTOCK_HAS_MPI
/// Collective over `comm`: the team of its ranks. MPI must be initialised and outlive the team; the communicator is
/// duplicated and stays the caller's. Throws Error on every rank where `reach` cannot be had.
Team world_of(MPI_Comm comm, const Reach& reach = {});
#endif

/// Serves what peers ask of this rank while its own threads compute, in place of polling, as long as it lives: for the
/// team's world and all teams of it.
///
/// Between its looks the thread sleeps for `pause` (0: it only yields, and so takes what is left of a core). Handlers
/// of active messages then run on it. Where it meets a failure it ends, and the rank's own next wait throws.
class ProgressThread {
 public:
  /// Throws Error where the team does not allow threads; see Team::allows_threads.
  explicit ProgressThread(const Team& team, std::chrono::microseconds pause = std::chrono::microseconds(50));
  /// Before the team's and the segments' end.
  ~ProgressThread();
  ProgressThread(const ProgressThread&) = delete;
  ProgressThread& operator=(const ProgressThread&) = delete;

 private:
  std::jthread thread_;
};

/// Where a T lies in a segment: `offset` bytes into the part of `rank`. Arithmetic is in elements.
template <class T = std::byte>
struct Pointer {
  int rank = 0;
  std::size_t offset = 0;

  Pointer operator+(std::size_t elements) const noexcept { return {rank, offset + elements * sizeof(T)}; }
  bool operator==(const Pointer&) const = default;
};

/// What atomic operations work on.
template <class T>
concept AtomicWord = std::integral<T> &&(sizeof(T) == 4 || sizeof(T) == 8);

/// A put that was begun. `source` is done when the data may be changed, `remote` when it is in the peer's memory.
struct [[nodiscard]] Put {
  Event source;
  Event remote;
};

/// Memory of every rank of a team that its peers read and write, with signals that tell of arrivals.
///
/// Movable, not copyable. The memory is page-aligned, zeroed, touched, and in huge pages as far as the system gives
/// them (whole ones of 2 MiB). Signals are 64-bit counters that start at 0. Peers of the same node are reached by loads
/// and stores, the others by what their network offers: puts and gets of its own, or messages, which they serve while
/// they wait or poll. Transfers to one rank need not be done in the order in which they were begun. All calls that name
/// memory or a signal which the peer has not throw Error, in release builds as well, and nothing is moved; the message
/// tells the addresses on both sides, of the peer's those in its own process.
///
/// Not collective to destroy: peers must be done with this rank's part (a barrier after the end of their puts and
/// gets).
class Segment {
 public:
  /// Collective: `bytes` bytes (which may differ between ranks) and `signals` signals on each rank. The team must
  /// outlive the segment. Throws Error on every rank where one cannot have its memory.
  Segment(const Team& team, std::size_t bytes, std::size_t signals);
  ~Segment();
  Segment(Segment&&) noexcept;
  Segment& operator=(Segment&&) noexcept;

  /// This rank's part.
  std::span<std::byte> local() const noexcept;
  /// This rank's part as elements, as many as are whole.
  template <class T>
  std::span<T> local_as() const noexcept {
    return {reinterpret_cast<T*>(local().data()), local().size() / sizeof(T)};
  }

  /// How many bytes of this rank's part lie in huge pages at present. Asks the system, which takes a millisecond.
  std::size_t bytes_in_huge_pages() const;

  /// How many bytes `peer`'s part has.
  std::size_t bytes_of(int peer) const;

  /// Where `peer`'s part is mapped in this process, or nullptr where it is reached through a network.
  std::byte* address_at(int peer) const noexcept;

  /// Writes `data` to the peer's memory. Returns when it is there.
  template <class T>
  void put(Pointer<T> to, std::type_identity_t<std::span<const T>> data) {
    Put put = start_put(to, data);
    put.remote.wait();
  }
  template <class T>
  Put start_put(Pointer<T> to, std::type_identity_t<std::span<const T>> data) {
    return start_put_bytes(to.rank, to.offset, std::as_bytes(data), no_signal);
  }

  /// Writes `data` to the peer's memory, then adds one to its signal `signal`: a rank that sees the signal sees the
  /// data. Returns when `data` may be changed again.
  template <class T>
  void put_signal(Pointer<T> to, std::type_identity_t<std::span<const T>> data, std::size_t signal) {
    send_put_bytes(to.rank, to.offset, std::as_bytes(data), signal).wait();
  }
  template <class T>
  Put start_put_signal(Pointer<T> to, std::type_identity_t<std::span<const T>> data, std::size_t signal) {
    return start_put_bytes(to.rank, to.offset, std::as_bytes(data), signal);
  }

  /// Reads the peer's memory into `data`. Returns when it is there.
  template <class T>
  void get(Pointer<T> from, std::type_identity_t<std::span<T>> data) {
    start_get(from, data).wait();
  }
  template <class T>
  Event start_get(Pointer<T> from, std::type_identity_t<std::span<T>> data) {
    return start_get_bytes(from.rank, from.offset, std::as_writable_bytes(data));
  }

  /// The same between layouts of equally many bytes: byte k of `local`, whose origin is at `data`, goes to byte k of
  /// `remote`, whose origin is at `to`; and with get the other way. Of the layout that is written, no byte may be named
  /// twice. The movers are compiled at the first use and kept.
  Put start_put(Pointer<> to, const layout::Layout& remote, const std::byte* data, const layout::Layout& local);
  Put start_put_signal(Pointer<> to, const layout::Layout& remote, const std::byte* data, const layout::Layout& local,
                       std::size_t signal);
  Event start_get(Pointer<> from, const layout::Layout& remote, std::byte* data, const layout::Layout& local);

  /// Adds `value` to the word and returns what was there before. Atomic with regard to all atomic operations of this
  /// module and, on a peer's own memory, to std::atomic_ref. The word is aligned to its size.
  template <AtomicWord T>
  T fetch_add(Pointer<T> word, std::type_identity_t<T> value) {
    return static_cast<T>(fetch_add_word({word.rank, word.offset}, sizeof(T), static_cast<std::uint64_t>(value)));
  }
  /// Stores `desired` where the word is `expected`; returns what was there before.
  template <AtomicWord T>
  T compare_swap(Pointer<T> word, std::type_identity_t<T> expected, std::type_identity_t<T> desired) {
    return static_cast<T>(compare_swap_word({word.rank, word.offset}, sizeof(T), static_cast<std::uint64_t>(expected),
                                            static_cast<std::uint64_t>(desired)));
  }

  /// Adds one to `peer`'s signal `signal`; what this thread stored into local peers before is seen with it.
  void notify(int peer, std::size_t signal);

  /// The present value of this rank's own signal; what its senders put before is visible.
  std::uint64_t value(std::size_t signal) const;

  /// Whether this rank's own signal is at least `at_least`, after serving what has arrived.
  bool test(std::size_t signal, std::uint64_t at_least) const;

  /// Waits until this rank's own signal `signal` is at least `at_least`.
  void wait(std::size_t signal, std::uint64_t at_least) const;

  /// Waits until one of this rank's own signals, 0 to at_least.size() - 1, is at least what is given for it; returns
  /// its number.
  std::size_t wait_any(std::span<const std::uint64_t> at_least) const;

 private:
  friend class ActiveMessages;
  struct State;
  static constexpr std::size_t no_signal = ~std::size_t{0};

  Put start_put_bytes(int peer, std::size_t offset, std::span<const std::byte> data, std::size_t signal);
  /// The same where nobody asks when it is in the peer's memory: no message then says so.
  Event send_put_bytes(int peer, std::size_t offset, std::span<const std::byte> data, std::size_t signal);
  Event start_get_bytes(int peer, std::size_t offset, std::span<std::byte> data);
  Put start_put_layout(Pointer<> to, const layout::Layout& remote, const std::byte* data, const layout::Layout& local,
                       std::size_t signal);
  std::uint64_t fetch_add_word(Pointer<> word, std::size_t bytes, std::uint64_t value);
  std::uint64_t compare_swap_word(Pointer<> word, std::size_t bytes, std::uint64_t expected, std::uint64_t desired);

  std::unique_ptr<State> state_;
};

/// A table of handlers that the ranks of a team call on one another.
///
/// A handler runs on the rank that is called, while that waits in a call of this module or polls, on whichever of its
/// threads does; one at a time. It may reply, and nothing else of this module. It should not throw: what it throws
/// comes out of the call that ran it, and whatever that waited for is not done.
class ActiveMessages {
 public:
  using Arguments = std::array<std::uint64_t, 3>;

  /// A call, while its handler runs.
  class Message {
   public:
    /// The rank that sent it.
    int source() const noexcept { return source_; }
    const Arguments& arguments() const noexcept { return arguments_; }
    /// The payload: of a long message its place in this rank's part of the segment, else gone when the handler returns.
    std::span<const std::byte> payload() const noexcept { return payload_; }
    /// Calls handler `handler` on the source. At most `most_payload_bytes`, which are copied.
    void reply(std::size_t handler, const Arguments& arguments, std::span<const std::byte> payload = {}) const;

   private:
    friend class ActiveMessages;
    const ActiveMessages* messages_;
    int source_;
    Arguments arguments_;
    std::span<const std::byte> payload_;
  };
  using Handler = std::function<void(const Message&)>;

  /// What a message that is not long may carry.
  static constexpr std::size_t most_payload_bytes = 4096;

  /// Collective: every rank gives as many handlers (up to 65536), which may differ. The team must outlive the table.
  /// Ends collectively as well, when all messages have been handled; but alone on a rank on which something was thrown.
  ActiveMessages(const Team& team, std::vector<Handler> handlers);
  ~ActiveMessages();
  ActiveMessages(const ActiveMessages&) = delete;
  ActiveMessages& operator=(const ActiveMessages&) = delete;

  /// Calls handler `handler` of `peer`, with up to `most_payload_bytes` (else Error), which are copied: returns at
  /// once.
  void call(int peer, std::size_t handler, const Arguments& arguments, std::span<const std::byte> payload = {});

  /// Writes `payload` into the segment, which is of the same team, then calls the handler there. The event is done when
  /// the payload may be changed.
  Event call_long(Pointer<> to, Segment& segment, std::span<const std::byte> payload, std::size_t handler,
                  const Arguments& arguments);

 private:
  struct State;
  void finish() noexcept;
  std::unique_ptr<State> state_;
};

/// A message that this rank writes in every round of an exchange: `bytes` bytes at `offset` of `peer`'s segment, where
/// it is number `index` in the list of what the peer receives.
struct Outgoing {
  int peer;
  std::size_t offset;
  std::size_t bytes;
  std::size_t index;
};

/// A message that this rank receives in every round: `bytes` bytes from `peer` at `offset` of its own segment.
struct Incoming {
  int peer;
  std::size_t offset;
  std::size_t bytes;
};

/// A schedule of messages between the ranks of a team, repeated in rounds: all addresses are known beforehand, so that
/// a local peer is written in place, and another one has its receives posted at the final address.
///
/// One round: `open` on each rank; per outgoing message `destination`, write there, `send`; per incoming message
/// `wait`, read it; `finish` when all messages were sent and read. `open` and `finish` are for one thread of a rank;
/// the others may be called by several threads at once, for different outgoing messages. A message of 0 bytes must not
/// be listed.
class Exchange {
 public:
  /// Collective. `team` and `segment` must outlive the exchange. Between two ranks, messages are listed in the same
  /// order on both sides.
  Exchange(const Team& team, const Segment& segment, std::vector<Outgoing> outgoing, std::vector<Incoming> incoming);
  ~Exchange();
  Exchange(Exchange&&) noexcept;
  Exchange& operator=(Exchange&&) noexcept;

  /// Begins a round: the peers may write this rank's incoming memory from now on.
  void open();

  /// Where outgoing message `message` is to be written: the peer's memory, or a buffer that `send` sends from. Waits
  /// until the peer has opened this round.
  std::byte* destination(std::size_t message);

  /// Tells the peer that outgoing message `message` is complete; stores that bypassed the cache must be fenced before.
  void send(std::size_t message);

  /// Waits until incoming message `message` of this round is complete and visible.
  void wait(std::size_t message);

  /// Ends a round on the sending side: returns when the buffers of this round may be written again.
  void finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace penstock::gas

#include "penstock/gas/global_array.hpp"

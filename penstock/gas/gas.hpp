// The global address space: ranks and teams, segments that peers write into, signals, and scheduled exchanges.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/base/config.hpp"
#include "penstock/base/error.hpp"

#if PENSTOCK_HAS_MPI
#include <mpi.h>
#endif

namespace penstock::gas {

class Transport;

/// How the ranks of an MPI communicator may reach one another.
enum class Reach {
  automatic,      ///< ranks of one node by shared memory, the rest by MPI messages
  shared_memory,  ///< shared memory only: an error unless all ranks are on one node
  mpi,            ///< MPI messages only, also between ranks of one node
};

/// An ordered group of ranks that communicate; the first is rank 0. The world is the team of all ranks.
///
/// Movable, not copyable; cheap to keep. Members marked collective must be called by every rank of the team, in the
/// same order. A team may be used by one thread of each rank at a time.
class Team {
 public:
  explicit Team(std::unique_ptr<Transport> transport);
  ~Team();
  Team(Team&&) noexcept;
  Team& operator=(Team&&) noexcept;

  int rank() const noexcept { return rank_; }
  int size() const noexcept { return size_; }

  /// What carries data between its ranks: "threads", "shm", "mpi", or "shm+mpi" where both do.
  std::string_view transport_name() const;

  /// Whether `peer`'s segments can be read and written with plain loads and stores.
  bool is_local(int peer) const;

  /// Whether any thread of a rank may communicate, one at a time. Not so only where the program initialised MPI for a
  /// single thread and some peers are reached by MPI messages.
  bool allows_threads() const;

  /// Collective: the ranks that give the same `color` become a team, ordered by `key`, then by rank in this team.
  Team split(int color, int key) const;

  /// Collective: returns when every rank has called it.
  void barrier() const;

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

 private:
  void all_gather_bytes(std::span<const std::byte> mine, std::span<std::byte> all) const;

  std::unique_ptr<Transport> transport_;
  int rank_;
  int size_;
};

/// The team of this process alone: rank 0 of 1. No MPI is needed or called.
Team world_alone();

/// Runs `body` on `ranks` threads of this process, each a rank with a team of its own making ("threads" transport), and
/// returns when all have ended. Where one throws, the others' waits throw too and the first exception is rethrown.
void run_world(int ranks, const std::function<void(Team&)>& body);

#if PENSTOCK_HAS_MPI
/// Collective over `comm`: the team of its ranks. MPI must be initialised and outlive the team; the communicator is
/// duplicated and stays the caller's. Throws Error on every rank where `reach` cannot be had.
Team world_of(MPI_Comm comm, Reach reach = Reach::automatic);
#endif

/// Memory of every rank of a team that its peers write into, with signals that tell of arrivals.
///
/// Movable, not copyable. The memory is page-aligned, zeroed and touched. Signals are 64-bit counters that start at 0.
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

  /// Where `peer`'s part is mapped in this process, or nullptr where it is reached by messages only.
  std::byte* address_at(int peer) const noexcept;

  /// Writes `data` into `peer`'s part at `offset` bytes, then adds one to its signal `signal`. A rank that sees the
  /// signal sees the data. Returns when `data` may be changed again. Throws Error when it does not fit into that part.
  void put(int peer, std::size_t offset, std::span<const std::byte> data, std::size_t signal);

  /// Adds one to `peer`'s signal `signal`; what this thread stored into local peers before is seen with it.
  void notify(int peer, std::size_t signal);

  /// The present value of this rank's own signal; what its senders put before is visible.
  std::uint64_t value(std::size_t signal) const;

  /// Waits until this rank's own signal `signal` is at least `at_least`.
  void wait(std::size_t signal, std::uint64_t at_least) const;

 private:
  struct State;
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

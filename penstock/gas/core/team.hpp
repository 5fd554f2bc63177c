// Teams of ranks that communicate, and how a world of ranks is made. Included by gas.hpp.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "penstock/base/config.hpp"
#include "penstock/base/error.hpp"
#include "penstock/gas/core/placement.hpp"
#include "penstock/gas/core/reach.hpp"

#if PENSTOCK_HAS_MPI
#include <mpi.h>
#endif

#pragma GCC visibility push(default)

namespace penstock::gas {

struct TeamParts;

/// Thrown by calls that wait or poll, on every rank that shares a node with a process that has died. The launcher
/// commonly ends such a run. Where it does not, a rank throws this within a second of waiting.
class PeerFailure : public Error {
 public:
  PeerFailure(const std::string& message, bool is_spokesman) : Error(message), is_spokesman_(is_spokesman) {}
  /// True on one of the ranks that throw: the rank that is to print the message, so that the user sees it once.
  bool is_spokesman() const noexcept { return is_spokesman_; }

 private:
  bool is_spokesman_;
};

/// Thrown on every rank of a team: the ranks have agreed on a failure, or the team has been revoked.
class TeamFailure : public Error {
 public:
  TeamFailure(const std::string& message, bool is_agreed) : Error(message), is_agreed_(is_agreed) {}
  /// Whether the ranks have agreed on the failure; the team can then be used as before.
  bool is_agreed() const noexcept { return is_agreed_; }

 private:
  bool is_agreed_;
};

/// The sentence of the exception that is being handled on rank `rank`; never empty.
std::string describe_current_failure(int rank);

/// The sentence of what `work` throws on rank `rank`; empty where it throws nothing.
template <class Work>
std::string failure_of(int rank, Work&& work) {
  try {
    work();
  } catch (...) {
    return describe_current_failure(rank);
  }
  return {};
}

/// An ordered group of ranks that communicate; the first is rank 0. The world is the team of all ranks.
///
/// What collective calls promise where a rank fails, here and in all modules:
/// - Calls that plan, take memory or make teams agree on failure: every rank throws the same Error, and the team can be
///   used as before.
/// - Calls that move data do not pay for an agreement. The rank that fails revokes the team over which the call runs:
///   it sends its sentence, which names the rank, to the others. Each rank that waits over that team, or calls it
///   later, throws Error with this sentence. A revoked team, and what was made with it, cannot be used again. (A plan
///   has a team of its own; make the plan anew.) A rank that needed nothing of the rank that failed may have completed
///   the call. Collective calls of collectives.hpp are the exception: each fails alone and leaves the team usable.
/// - Where a rank dies, the others throw PeerFailure. Where a rank never makes the call, the others wait for ever.
///
/// Movable, not copyable; cheap to keep. Members marked collective must be called by every rank of the team, in the
/// same order. One thread of each rank at a time may use a team.
///
/// A rank serves its peers while it waits in any call of this module, or polls. It then runs the handlers that peers
/// call, and carries out the puts, gets and atomic operations of peers that do not map its memory, as far as the
/// network does not do that itself.
class Team {
 public:
  /// For this module alone, like `parts`. Programs get their first team from world_alone, world_of or run_world.
  explicit Team(std::unique_ptr<TeamParts> parts) noexcept;
  ~Team();
  Team(Team&&) noexcept;
  Team& operator=(Team&&) noexcept;

  int rank() const noexcept { return rank_; }
  int size() const noexcept { return size_; }

  /// The placement of the ranks.
  const Placement& placement() const noexcept;

  /// The transport between the ranks.
  const TransportTraits& transport() const noexcept;

  /// Whether `peer` is local: its segments are mapped here, and read and written with plain loads and stores.
  bool is_local(int peer) const;
  /// Whether all ranks of the team are local.
  bool are_all_local() const;

  /// Whether any thread of a rank may communicate, one at a time. False only where some peers are reached through a
  /// network and the program initialised MPI below MPI_THREAD_SERIALIZED.
  bool allows_threads() const;

  /// Collective: the ranks that give the same `color` become a team, ordered by `key`, then by rank in this team.
  Team split(int color, int key) const;

  /// Collective: returns when every rank has called it.
  void barrier() const;

  /// Makes progress: moves this rank's operations on and serves its peers. Throws Error where the team has been
  /// revoked.
  void poll() const;

  /// Revokes the team for good, on every rank: calls that wait over it, and later calls, throw Error with `why`. Not
  /// collective: one rank calls it, but not from a handler of active messages. Returns at once, or within two seconds
  /// where peers do not take messages. Where several ranks revoke a team at the same time, each rank throws the reason
  /// that reaches it first.
  void revoke(std::string_view why) const noexcept;
  /// Throws Error where this rank has learnt that the team is revoked. Does not poll.
  void check_revoked() const;

  /// Runs this rank's part of a collective call, which may wait for other ranks of the team. Where `work` throws what
  /// the ranks have not agreed on, revokes the team, so that the other ranks throw the same. Costs nothing where
  /// nothing is thrown.
  template <class Work>
  decltype(auto) run_or_revoke(Work&& work) const {
    try {
      return work();
    } catch (...) {
      revoke_for_current();
    }
  }

  /// Collective: every rank's value, in order of rank. T is trivially copyable.
  template <class T>
  std::vector<T> all_gather(const T& mine) const {
    std::vector<T> all(static_cast<std::size_t>(size_));
    all_gather_bytes(std::as_bytes(std::span(&mine, 1)), std::as_writable_bytes(std::span(all)));
    return all;
  }

  /// Collective: whether `mine` is true on every rank.
  bool all_of(bool mine) const { return largest(mine ? 0 : 1) == 0; }

  /// Collective: the largest of every rank's value, on every rank.
  template <class T>
  T largest(const T& mine) const {
    return std::ranges::max(all_gather(mine));
  }

  /// Collective: agrees on failure. `failure` is this rank's sentence, or empty. Returns where it is empty on all
  /// ranks. Else throws Error on every rank, with the sentence of the lowest rank that failed.
  void agree(std::string_view failure) const;

  /// Collective: throws Error on every rank where `text` is not the same on all; `what` names it in the message.
  void agree_on(std::string_view what, std::string_view text) const;

  /// Collective: runs `work` on every rank, then agrees: where it throws anything on one rank, all throw Error. `work`
  /// itself must not be collective.
  template <class Work>
  void together(Work&& work) const {
    agree(failure_of(rank_, work));
  }

  /// Collective; call it before memory is taken. Throws Error on every rank where there is too little memory. With
  /// `budget_bytes` that is where the ranks of some node together want more than the budget. With 0 it is where those
  /// of a host want more than the host has left, or those of a control group more than its limit leaves. `bytes` is
  /// what this rank wants; the message begins with `what` ("a plan for 64x64x64").
  void require_memory(std::string_view what, std::uint64_t bytes, std::uint64_t budget_bytes) const;

  /// The rank in the world of a rank of this team.
  int world_rank(int rank) const;

  TeamParts& parts() const noexcept { return *parts_; }

 private:
  [[noreturn]] void revoke_for_current() const;
  void all_gather_bytes(std::span<const std::byte> mine, std::span<std::byte> all) const;

  std::unique_ptr<TeamParts> parts_;
  int rank_ = 0;
  int size_ = 0;
};

/// The team of this process alone: rank 0 of 1. No MPI is needed or called.
Team world_alone();

/// Runs `body` on `ranks` threads of this process, each a rank with a Team object of its own, and returns when all have
/// ended. Where one throws, waits of the others throw too, and the first exception is thrown again here.
void run_world(int ranks, const std::function<void(Team&)>& body);

#if PENSTOCK_HAS_MPI
/// Collective over `comm`: the team of its ranks. MPI must be initialised, and outlive the team. The communicator is
/// duplicated and stays the caller's. Throws Error on every rank where `reach` is not possible.
Team world_of(MPI_Comm comm, const Reach& reach = {});

/// Returns a function that runs `work` while no other thread of this rank calls MPI for the team's world: for programs
/// whose MPI serves one thread at a time (MPI_THREAD_SERIALIZED). Valid as long as the team, which may be moved.
std::function<void(const std::function<void()>& work)> mpi_lock_of(const Team& team);
#endif

/// A thread that serves this rank's peers while the rank's own threads compute, in place of polling. It works for the
/// team's world and all teams of that world, as long as it lives.
///
/// Between its polls the thread sleeps for `pause`; with 0 it only yields, and takes what is left of a core. Handlers
/// of active messages then also run on it. At a failure it ends, and the rank's own next wait throws. Other threads of
/// the rank that poll wait for its lock.
class ProgressThread {
 public:
  /// Throws Error where the team does not allow threads (see Team::allows_threads).
  explicit ProgressThread(const Team& team, std::chrono::microseconds pause = std::chrono::microseconds(50));
  /// To be destroyed before the team and its segments.
  ~ProgressThread();
  ProgressThread(const ProgressThread&) = delete;
  ProgressThread& operator=(const ProgressThread&) = delete;

  /// Stops the polling until `resume`; a resting thread costs nothing. One thread at a time may call these two.
  void rest() noexcept { is_resting_.store(true, std::memory_order_relaxed); }
  void resume() noexcept;

 private:
  std::atomic<bool> is_resting_ = false;
  std::jthread thread_;
};

}  // namespace penstock::gas

#pragma GCC visibility pop

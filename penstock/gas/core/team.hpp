// Ranks that communicate: teams, the world, and how its ranks meet. Included by gas.hpp.
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

namespace penstock::gas {

struct TeamParts;

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

/// What every rank of a team throws: it was agreed on, or the team has been revoked.
class TeamFailure : public Error {
 public:
  TeamFailure(const std::string& message, bool is_agreed) : Error(message), is_agreed_(is_agreed) {}
  /// Whether the ranks have agreed on it, so that the team is of use as before.
  bool is_agreed() const noexcept { return is_agreed_; }

 private:
  bool is_agreed_;
};

/// What is wrong, where an exception is being handled on rank `rank`: never empty.
std::string describe_current_failure(int rank);

/// What is wrong where `work` throws on rank `rank`; else empty.
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
/// What collective calls promise, here and in all modules, where a rank fails:
/// - Calls that plan, take memory or make teams agree on it: every rank throws the same Error, and the team is of use
///   as before.
/// - Calls that move data do not pay for an agreement. The rank that fails revokes the team that the call runs over:
///   it tells the other ranks, and each of them that waits over that team, or calls it later, throws Error with the
///   sentence of the rank that failed, which names that rank. A revoked team is of no more use, and neither is what was
///   made with it: a plan has a team of its own, and is made anew. A rank that needed nothing of the one that failed
///   may have completed the call. (Collective calls of collectives.hpp fail one by one and leave the team as it is.)
/// - Where a rank dies, the others throw PeerFailure. Where a rank never makes the call, the others wait for ever.
///
/// Movable, not copyable; cheap to keep. Members marked collective must be called by every rank of the team, in the
/// same order. A team may be used by one thread of each rank at a time.
///
/// What peers ask of a rank whose memory they do not map (a put, a get, an atomic operation) and what calls its
/// handlers is served while the rank waits in any call of this module, or polls.
class Team {
 public:
  /// For this module, as are `parts`: programs have their first team of world_alone, world_of or run_world.
  explicit Team(std::unique_ptr<TeamParts> parts) noexcept;
  ~Team();
  Team(Team&&) noexcept;
  Team& operator=(Team&&) noexcept;

  int rank() const noexcept { return rank_; }
  int size() const noexcept { return size_; }

  /// Where its ranks run.
  const Placement& placement() const noexcept;

  /// What carries data between its ranks.
  const TransportTraits& transport() const noexcept;

  /// Whether `peer`'s segments can be read and written with plain loads and stores.
  bool is_local(int peer) const;
  /// Whether those of all ranks can.
  bool are_all_local() const;

  /// Whether any thread of a rank may communicate, one at a time. Not so only where the program initialised MPI for a
  /// single thread and some peers are reached through a network.
  bool allows_threads() const;

  /// Collective: the ranks that give the same `color` become a team, ordered by `key`, then by rank in this team.
  Team split(int color, int key) const;

  /// Collective: returns when every rank has called it.
  void barrier() const;

  /// Serves what peers have asked for meanwhile. Throws Error where the team has been revoked.
  void poll() const;

  /// Makes the team unusable, on every rank and for good: what waits over it, or is called over it later, throws Error
  /// with `why`. Not collective: one rank calls it, but not from a handler of active messages. Returns at once, or,
  /// where peers do not take messages, within two seconds. Where several ranks revoke a team at the same time, each
  /// rank throws the reason that it meets first.
  void revoke(std::string_view why) const noexcept;
  /// Throws Error where the team has been revoked, as far as this rank has learnt; does not poll.
  void check_revoked() const;

  /// Runs this rank's part of a collective call, which may wait for other ranks of the team. Where it throws what the
  /// ranks have not agreed on, the team is revoked, so that they throw the same. Costs nothing where nothing is thrown.
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

  /// Collective: agrees on failure. `failure` says what is wrong on this rank, or is empty. Where no rank has failed it
  /// returns; else it throws Error on every rank, with the message of the lowest rank that failed.
  void agree(std::string_view failure) const;

  /// Collective: throws Error on every rank where `text` is not the same on all; `what` names it in the message.
  void agree_on(std::string_view what, std::string_view text) const;

  /// Collective: runs `work` on every rank, then agrees: where it throws on one, whatever it is, all throw Error.
  /// `work` itself must not be collective.
  template <class Work>
  void together(Work&& work) const {
    agree(failure_of(rank_, work));
  }

  /// Collective, to be called before memory is taken: throws Error on every rank where the ranks of some node want
  /// together more than `budget_bytes`, or, if that is 0, those of a host more than the host has left, or those of a
  /// control group more than its limit leaves. `bytes` is this rank's want; the message begins with `what` ("a plan for
  /// 64x64x64").
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

/// Runs `body` on `ranks` threads of this process, each a rank with a team of its own making, and
/// returns when all have ended. Where one throws, the others' waits throw too and the first exception is rethrown.
void run_world(int ranks, const std::function<void(Team&)>& body);

#if PENSTOCK_HAS_MPI
/// Collective over `comm`: the team of its ranks. MPI must be initialised and outlive the team; the communicator is
/// duplicated and stays the caller's. Throws Error on every rank where `reach` cannot be had.
Team world_of(MPI_Comm comm, const Reach& reach = {});

/// Runs what calls MPI while no other thread of this rank calls it for the team's world: for programs whose MPI serves
/// one thread at a time (MPI_THREAD_SERIALIZED). Of use as long as the team, which may be moved.
std::function<void(const std::function<void()>& work)> mpi_lock_of(const Team& team);
#endif

/// Serves what peers ask of this rank while its own threads compute, in place of polling, as long as it lives: for the
/// team's world and all teams of it.
///
/// Between its polls the thread sleeps for `pause` (0: it only yields, and so takes what is left of a core). Handlers
/// of active messages then run on it. Where it meets a failure it ends, and the rank's own next wait throws. Threads of
/// a rank that poll as well wait for its lock.
class ProgressThread {
 public:
  /// Throws Error where the team does not allow threads; see Team::allows_threads.
  explicit ProgressThread(const Team& team, std::chrono::microseconds pause = std::chrono::microseconds(50));
  /// Before the team's and the segments' end.
  ~ProgressThread();
  ProgressThread(const ProgressThread&) = delete;
  ProgressThread& operator=(const ProgressThread&) = delete;

  /// It polls no more, and costs nothing, until `resume`. Both are for one thread at a time.
  void rest() noexcept { is_resting_.store(true, std::memory_order_relaxed); }
  void resume() noexcept;

 private:
  std::atomic<bool> is_resting_ = false;
  std::jthread thread_;
};

}  // namespace penstock::gas

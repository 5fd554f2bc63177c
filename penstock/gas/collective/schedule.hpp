// The schedule of a collective call: the steps that one rank takes. Private to the module.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "penstock/gas/collective/collectives.hpp"
#include "penstock/layout/layout.hpp"

namespace penstock::gas {

/// One step: a message to or from a peer, or a copy on this rank.
///
/// The k-th message from one rank to another in a call is the k-th that the other expects from it. A step begins when
/// no step before it that is not done touches what it writes, or writes what it reads: so independent steps overlap,
/// and those on the same memory keep their order. Messages that are longer than `max_inline_bytes` wait for the
/// receiver's step to begin; so no two ranks may send one another such messages from what they receive into.
struct Step {
  enum class Kind : std::uint8_t {
    send,
    receive,
    combine_as_left,   ///< what is received becomes the left operand, `to` the right one and the result
    combine_as_right,  ///< the other way round
    copy,
  };

  Kind kind;
  int peer = 0;
  const std::byte* from = nullptr;  ///< of send and copy
  std::byte* to = nullptr;          ///< of the others
  std::size_t bytes = 0;
  /// Of what lies at `from` and at `to`, where it is not `bytes` bytes in a row.
  const layout::Layout* from_layout = nullptr;
  const layout::Layout* to_layout = nullptr;
  /// What a send tells beside its data, and what a message that is received must tell: agreement of the two ranks.
  std::uint64_t tells = 0;

  bool is_receive() const noexcept { return kind != Kind::send && kind != Kind::copy; }
};

enum class CollectiveKind : std::uint8_t { barrier, broadcast, reduce, all_reduce, gather, all_gather, exchange };

/// For messages: "barrier".
std::string_view name_of(CollectiveKind kind);

/// All steps of one rank, and what they need beside the caller's memory.
struct Schedule {
  /// Makes it an empty one of such a call, in the memory that it has.
  void clear(CollectiveKind of, int with_root = 0);

  CollectiveKind kind = CollectiveKind::barrier;
  int root = 0;
  std::vector<Step> steps = {};
  Combination combination{1, nullptr};
  bool is_independent = false;               ///< no step touches what another one writes
  std::vector<layout::Layout> layouts = {};  ///< to which steps point
  std::vector<std::byte> scratch = {};       ///< to which steps point
};

/// Who makes a schedule: one rank of a team.
struct Member {
  int rank;
  int size;
};

// Each fills a schedule anew.

/// In round k every rank tells the one 2^k above it (dissemination).
void schedule_barrier(Schedule& schedule, Member me);
/// Down a binomial tree, in pieces.
void schedule_broadcast(Schedule& schedule, Member me, std::span<std::byte> data, int root);
/// Up a binomial tree, in pieces.
void schedule_reduce(Schedule& schedule, Member me, std::span<const std::byte> mine, std::span<std::byte> result,
                     int root, const Combination& combination);
/// Short: recursive doubling. Long: each rank reduces a share as it goes round the ring, then the shares go round.
void schedule_all_reduce(Schedule& schedule, Member me, std::span<const std::byte> mine, std::span<std::byte> result,
                         const Combination& combination);
/// Straight to the root, and straight to everyone: each message once.
void schedule_gather(Schedule& schedule, Member me, std::span<const std::byte> mine, std::span<std::byte> all,
                     int root);
void schedule_all_gather(Schedule& schedule, Member me, std::span<const std::byte> mine, std::span<std::byte> all);
/// Straight to everyone: first to the next rank, last to the one before, so that no rank is everybody's first.
void schedule_exchange(Schedule& schedule, Member me, std::span<const std::byte> send, std::span<std::byte> receive);
void schedule_exchange(Schedule& schedule, Member me, std::span<const SendBlock> send,
                       std::span<const ReceiveBlock> receive);

}  // namespace penstock::gas

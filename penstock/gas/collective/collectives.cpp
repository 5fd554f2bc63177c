// Collective calls check what they are given, make a schedule of it, and begin.
#include "penstock/gas/collective/collectives.hpp"

#include <fmt/format.h>

#include <string>

#include "penstock/gas/collective/collective_registry.hpp"
#include "penstock/gas/collective/schedule.hpp"
#include "penstock/gas/core/team_parts.hpp"
#include "penstock/gas/gas.hpp"

namespace penstock::gas {
namespace {

/// Refuses the call where `why` says something.
void require(const Team& team, CollectiveKind kind, const std::string& why) {
  if (!why.empty()) {
    team.parts().calls->refuse(kind, fmt::format("{} on rank {}: {}", name_of(kind), team.rank(), why));
  }
}

std::string check_root(const Team& team, int root) {
  return root >= 0 && root < team.size() ? ""
                                         : fmt::format("the root is {}, and the team has {} ranks", root, team.size());
}

std::string check_length(std::size_t has, std::size_t needs, const char* what) {
  return has == needs ? "" : fmt::format("{} has {} bytes, and {} are needed", what, has, needs);
}

std::string check_elements(std::size_t bytes, const Combination& combination) {
  return bytes % combination.element_bytes == 0
             ? ""
             : fmt::format("{} bytes are no whole number of elements of {}", bytes, combination.element_bytes);
}

std::string first_of(std::string first, std::string second) {
  return first.empty() ? second : first;
}

}  // namespace

Event start_barrier(const Team& team) {
  CollectiveRegistry& calls = *team.parts().calls;
  return calls.start([&](Schedule& schedule) { schedule_barrier(schedule, calls.member()); });
}

Event start_broadcast_bytes(const Team& team, std::span<std::byte> data, int root) {
  CollectiveRegistry& calls = *team.parts().calls;
  require(team, CollectiveKind::broadcast, check_root(team, root));
  return calls.start([&](Schedule& schedule) { schedule_broadcast(schedule, calls.member(), data, root); });
}

Event start_reduce_bytes(const Team& team, std::span<const std::byte> mine, std::span<std::byte> result, int root,
                         const Combination& combination) {
  CollectiveRegistry& calls = *team.parts().calls;
  std::string failure = first_of(check_root(team, root), check_elements(mine.size(), combination));
  if (team.rank() == root) {
    failure = first_of(failure, check_length(result.size(), mine.size(), "the result"));
  }
  require(team, CollectiveKind::reduce, failure);
  return calls.start(
      [&](Schedule& schedule) { schedule_reduce(schedule, calls.member(), mine, result, root, combination); });
}

Event start_all_reduce_bytes(const Team& team, std::span<const std::byte> mine, std::span<std::byte> result,
                             const Combination& combination) {
  CollectiveRegistry& calls = *team.parts().calls;
  require(team, CollectiveKind::all_reduce,
          first_of(check_elements(mine.size(), combination), check_length(result.size(), mine.size(), "the result")));
  return calls.start(
      [&](Schedule& schedule) { schedule_all_reduce(schedule, calls.member(), mine, result, combination); });
}

Event start_gather_bytes(const Team& team, std::span<const std::byte> mine, std::span<std::byte> all, int root) {
  CollectiveRegistry& calls = *team.parts().calls;
  std::string failure = check_root(team, root);
  if (team.rank() == root) {
    failure = first_of(failure, check_length(all.size(), mine.size() * static_cast<std::size_t>(team.size()),
                                             "what all ranks' parts go to"));
  }
  require(team, CollectiveKind::gather, failure);
  return calls.start([&](Schedule& schedule) { schedule_gather(schedule, calls.member(), mine, all, root); });
}

Event start_all_gather_bytes(const Team& team, std::span<const std::byte> mine, std::span<std::byte> all) {
  CollectiveRegistry& calls = *team.parts().calls;
  require(team, CollectiveKind::all_gather,
          check_length(all.size(), mine.size() * static_cast<std::size_t>(team.size()), "what all ranks' parts go to"));
  return calls.start([&](Schedule& schedule) { schedule_all_gather(schedule, calls.member(), mine, all); });
}

Event start_exchange_bytes(const Team& team, std::span<const std::byte> send, std::span<std::byte> receive) {
  CollectiveRegistry& calls = *team.parts().calls;
  std::string failure = check_length(receive.size(), send.size(), "what is received into");
  if (send.size() % static_cast<std::size_t>(team.size()) != 0) {
    failure = fmt::format("{} bytes do not make equal blocks for {} ranks", send.size(), team.size());
  }
  require(team, CollectiveKind::exchange, failure);
  return calls.start([&](Schedule& schedule) { schedule_exchange(schedule, calls.member(), send, receive); });
}

Event start_exchange(const Team& team, std::span<const SendBlock> send, std::span<const ReceiveBlock> receive) {
  CollectiveRegistry& calls = *team.parts().calls;
  const auto size = static_cast<std::size_t>(team.size());
  const auto me = static_cast<std::size_t>(team.rank());
  std::string failure;
  if (send.size() != size || receive.size() != size) {
    failure = fmt::format("{} blocks to send and {} to receive, and the team has {} ranks: give one for each",
                          send.size(), receive.size(), size);
  } else if (send[me].layout.bytes() != receive[me].layout.bytes()) {
    failure = fmt::format("the rank sends {} bytes to itself and expects {}", send[me].layout.bytes(),
                          receive[me].layout.bytes());
  }
  require(team, CollectiveKind::exchange, failure);
  return calls.start([&](Schedule& schedule) { schedule_exchange(schedule, calls.member(), send, receive); });
}

}  // namespace penstock::gas

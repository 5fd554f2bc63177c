#include "penstock/fft/device_peers.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <utility>

#include "penstock/base/base.hpp"
#include "penstock/device/device.hpp"
#include "penstock/gas/gas.hpp"

namespace penstock::fft {
namespace {

using BothSchedules = std::array<DeviceSchedule*, 2>;

constexpr std::uint64_t never = std::numeric_limits<std::uint64_t>::max();

/// A message, as it lies on both devices and in the peer's segment.
struct MessageCopy {
  std::size_t schedule = 0;  ///< of the two
  std::size_t memory = 0;
  std::uint64_t offset = 0;       ///< on this rank's device
  std::uint64_t peer_offset = 0;  ///< in the peer's segment, and alike on its device
  std::uint64_t bytes = 0;
};

/// The longest message to each peer between blocks in device memory; of no bytes where there is none.
std::vector<MessageCopy> longest_messages(const gas::Team& team, const BothSchedules& schedules) {
  std::vector<MessageCopy> longest(static_cast<std::size_t>(team.size()));
  for (std::size_t schedule = 0; schedule < schedules.size(); ++schedule) {
    for (const DeviceExchange& exchange : schedules[schedule]->exchanges) {
      for (std::size_t i = 0; exchange.place == BlockPlace::device && i < exchange.sent.size(); ++i) {
        const gas::Outgoing& message = exchange.outgoing_messages[i];
        MessageCopy& known = longest[static_cast<std::size_t>(message.peer)];
        if (message.bytes > known.bytes) {
          known = {.schedule = schedule,
                   .memory = exchange.memory,
                   .offset = static_cast<std::uint64_t>(exchange.sent[i].offset),
                   .peer_offset = message.offset,
                   .bytes = message.bytes};
        }
      }
    }
  }
  return longest;
}

/// The least size from which on copies straight to the peer's device are no slower than those to the host and from
/// there to a device; `never` where the longest one is.
std::uint64_t measure_direct_from(DeviceResources& resources, const MessageCopy& message,
                                  const device::Location& at_peer, std::byte* host) {
  const device::Location own = resources.blocks[message.memory]->location() + message.offset;
  std::vector<std::uint64_t> sizes;
  for (const std::uint64_t bytes : {std::uint64_t{4} << 10, std::uint64_t{64} << 10, std::uint64_t{1} << 20}) {
    if (bytes < message.bytes) {
      sizes.push_back(bytes);
    }
  }
  sizes.push_back(std::min(message.bytes, std::uint64_t{16} << 20));
  std::uint64_t from = never;
  for (auto bytes = sizes.rbegin(); bytes != sizes.rend(); ++bytes) {
    const double direct_s = device::min_seconds([&] {
      resources.to_peers->copy(at_peer, own, *bytes);
      resources.to_peers->finish();
    });
    // The second copy is the peer's, whose device is taken to be like this one.
    const double through_host_s = device::min_seconds([&] {
      resources.to_host->copy_to_host(host, own, {.row_bytes = *bytes});
      resources.to_host->finish();
      resources.to_device->copy_to_device(own, host, {.row_bytes = *bytes});
      resources.to_device->finish();
    });
    if (direct_s > through_host_s) {
      return from;
    }
    from = *bytes;
  }
  return 0;  // shorter ones are bound by what the shortest one is bound by
}

/// Whether this rank reaches all memory of `peer` that it sends to.
bool reaches(const DeviceResources& resources, const BothSchedules& schedules, int peer) {
  for (const DeviceSchedule* const schedule : schedules) {
    for (const DeviceExchange& exchange : schedule->exchanges) {
      for (const gas::Outgoing& message : exchange.outgoing_messages) {
        if (exchange.place == BlockPlace::device && message.peer == peer &&
            resources.peer_blocks[exchange.memory][static_cast<std::size_t>(peer)] == nullptr) {
          return false;
        }
      }
    }
  }
  return true;
}

/// Whether this rank sends `peer` a message of fewer bytes.
bool has_shorter(const BothSchedules& schedules, int peer, std::uint64_t bytes) {
  for (const DeviceSchedule* const schedule : schedules) {
    for (const DeviceExchange& exchange : schedule->exchanges) {
      for (std::size_t i = 0; exchange.place == BlockPlace::device && i < exchange.sent.size(); ++i) {
        if (exchange.outgoing_messages[i].peer == peer && static_cast<std::uint64_t>(exchange.sent[i].bytes) < bytes) {
          return true;
        }
      }
    }
  }
  return false;
}

/// A message that goes straight has one byte in the segment, which nobody reads, for the exchange to signal. Returns
/// whether all that this rank sends go straight.
bool mark_direct(DeviceSchedule& schedule, const std::vector<std::uint64_t>& sent_from,
                 const std::vector<std::uint64_t>& received_from) {
  const auto mark = [](DeviceMessage& message, auto& listed, const std::vector<std::uint64_t>& from) {
    message.is_direct = static_cast<std::uint64_t>(message.bytes) >= from[static_cast<std::size_t>(listed.peer)];
    listed.bytes = message.is_direct ? 1 : listed.bytes;
  };
  bool are_all_direct = true;
  for (DeviceExchange& exchange : schedule.exchanges) {
    for (std::size_t i = 0; exchange.place == BlockPlace::device && i < exchange.sent.size(); ++i) {
      mark(exchange.sent[i], exchange.outgoing_messages[i], sent_from);
      are_all_direct = are_all_direct && exchange.sent[i].is_direct;
    }
    for (std::size_t i = 0; exchange.place == BlockPlace::device && i < exchange.received.size(); ++i) {
      mark(exchange.received[i], exchange.incoming_messages[i], received_from);
    }
  }
  return are_all_direct;
}

}  // namespace

void open_peer_blocks(const gas::Team& team, DeviceResources& resources) {
  struct Offer {
    device::SharedMemory memory;
    bool is_there = false;
  };
  resources.peer_blocks.resize(resources.blocks.size());
  for (std::size_t memory = 0; memory < resources.blocks.size(); ++memory) {
    Offer mine;
    if (const device::Memory* const blocks = resources.blocks[memory].get(); blocks != nullptr) {
      mine = {resources.device->share(*blocks), true};
    }
    const std::vector<Offer> offers = team.all_gather(mine);
    team.together([&] {
      for (int peer = 0; peer < team.size(); ++peer) {
        const Offer& offer = offers[static_cast<std::size_t>(peer)];
        resources.peer_blocks[memory].push_back(offer.is_there && peer != team.rank() && team.is_local(peer)
                                                    ? resources.device->open_shared(offer.memory)
                                                    : nullptr);
      }
    });
  }
}

DeviceMessages choose_paths(const gas::Team& team, DeviceResources& resources, DeviceSchedule& forward,
                            DeviceSchedule& backward, MessagePath path) {
  struct Choice {
    std::uint64_t direct_from = never;
    const char* why_not = "";
  };
  const BothSchedules schedules{&forward, &backward};
  const std::vector<MessageCopy> messages = longest_messages(team, schedules);
  const std::vector<device::Properties::Identity> devices = team.all_gather(resources.device->properties().identity);
  const auto choose = [&](int peer) -> Choice {
    if (path == MessagePath::host) {
      return {never, "this was asked for"};
    }
    if (!team.is_local(peer)) {
      return {never, "ranks do not map one another's memory"};
    }
    if (!reaches(resources, schedules, peer)) {
      return {never, "the driver does not map the memory of the peers' devices"};
    }
    if (path == MessagePath::direct) {
      return {0, ""};
    }
    const MessageCopy& message = messages[static_cast<std::size_t>(peer)];
    const device::Location blocks = resources.peer_blocks[message.memory][static_cast<std::size_t>(peer)]->location();
    std::byte* const host = resources.segments[message.memory].address_at(peer) + message.peer_offset;
    return {measure_direct_from(resources, message, blocks + message.peer_offset, host),
            "it was measured to be faster"};
  };
  // Peers that are reached on the same device are alike: the one with the longest message tells of all.
  struct Alike {
    std::vector<int> peers;
    Choice choice;
  };
  std::map<std::pair<device::Properties::Identity, bool>, Alike> kinds;
  for (int peer = 0; peer < team.size(); ++peer) {
    const auto number = static_cast<std::size_t>(peer);
    if (messages[number].bytes > 0) {
      kinds[{devices[number], team.is_local(peer) && reaches(resources, schedules, peer)}].peers.push_back(peer);
    }
  }
  const auto bytes_to = [&](int peer) { return messages[static_cast<std::size_t>(peer)].bytes; };
  // The blocks of one schedule lie where those of the other do: no rank writes these before all are done with those.
  for (std::size_t schedule = 0; schedule < schedules.size(); ++schedule) {
    team.together([&] {
      for (auto& [kind, alike] : kinds) {
        const int longest = *std::ranges::max_element(alike.peers, {}, bytes_to);
        if (messages[static_cast<std::size_t>(longest)].schedule == schedule) {
          alike.choice = choose(longest);
        }
      }
    });
  }
  std::vector<std::uint64_t> sent_from(messages.size(), never);
  DeviceMessages chosen;
  for (const auto& [kind, alike] : kinds) {
    const std::uint64_t direct_from = alike.choice.direct_from;
    for (const int peer : alike.peers) {
      sent_from[static_cast<std::size_t>(peer)] = direct_from;
    }
    if (direct_from != never) {
      chosen.direct_from_bytes = std::max(chosen.direct_from_bytes.value_or(0), direct_from);
    }
    if (direct_from == never ||
        std::ranges::any_of(alike.peers, [&](int peer) { return has_shorter(schedules, peer, direct_from); })) {
      chosen.why_through_host = alike.choice.why_not;
    }
  }
  std::vector<std::uint64_t> received_from(messages.size());
  gas::exchange<std::uint64_t>(team, sent_from, received_from);
  const bool are_all_direct_forward = mark_direct(forward, sent_from, received_from);
  if (mark_direct(backward, sent_from, received_from) && are_all_direct_forward) {
    chosen.why_through_host.clear();
  }
  return chosen;
}

}  // namespace penstock::fft

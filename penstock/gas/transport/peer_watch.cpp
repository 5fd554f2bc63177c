#include "penstock/gas/transport/peer_watch.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <new>
#include <optional>
#include <utility>

#include "penstock/base/base.hpp"
#include "penstock/gas/gas.hpp"
#include "penstock/gas/transport/shared_memory.hpp"
#include "penstock/gas/transport/transport.hpp"

namespace penstock::gas {
namespace {

/// Calls between two questions to the system: a microsecond in some ten, and, where a rank sleeps between
/// its looks, a twentieth of a second.
constexpr unsigned calls_between_looks = 1024;

/// Each process shows on a page of its own whether it has left: zeroed memory says that it has not.
using HasLeft = std::atomic<std::uint32_t>;
static_assert(HasLeft::is_always_lock_free);

HasLeft& has_left(const Memory& page) {
  return *std::launder(reinterpret_cast<HasLeft*>(page.data()));
}

}  // namespace

void PeerWatch::begin(Transport& transport, std::span<const int> nodes) {
  rank_ = transport.rank();
  const auto index = [](int rank) { return static_cast<std::size_t>(rank); };
  std::optional<SharedMemory> page;
  SharedMemoryTicket ticket;  // of no memory where there is none: then nobody watches this process
  try {
    page.emplace(sizeof(HasLeft));
    ticket = page->ticket();
    mine_ = page->take_memory();
  } catch (const Error&) {
  }
  std::vector<SharedMemoryTicket> tickets(nodes.size());
  transport.all_gather(&ticket, sizeof ticket, tickets.data());
  for (int rank = 0; rank < transport.size(); ++rank) {
    if (rank != transport.rank() && nodes[index(rank)] == nodes[index(transport.rank())]) {
      watch(rank, tickets[index(rank)]);
    }
  }
  // Every process is still there while it is looked up, so that its number means none but it.
  transport.barrier();
}

void PeerWatch::watch(int rank, const SharedMemoryTicket& ticket) {
  Peer peer{.rank = rank, .process = ticket.process};
  try {
    peer.page = map_shared_memory(ticket);
  } catch (const Error&) {
  }
  if (peer.page.size() == 0) {
    return;
  }
  peer.descriptor = static_cast<int>(syscall(SYS_pidfd_open, static_cast<pid_t>(ticket.process), 0));
  if (peer.descriptor >= 0) {
    peers_.push_back(std::move(peer));
  }
}

PeerWatch::~PeerWatch() {
  if (mine_.size() > 0) {
    has_left(mine_).store(1, std::memory_order_release);
  }
  for (const Peer& peer : peers_) {
    close(peer.descriptor);
  }
}

bool PeerWatch::has_failed() {
  if (has_failed_.load(std::memory_order_acquire)) {
    return true;
  }
  if (calls_.fetch_add(1, std::memory_order_relaxed) % calls_between_looks == 0 && !is_looking_.exchange(true)) {
    look();
    is_looking_.store(false);
  }
  return has_failed_.load(std::memory_order_acquire);
}

void PeerWatch::check() {
  if (!has_failed()) {
    return;
  }
  const auto dead = std::ranges::find_if(peers_, &Peer::has_died);
  const bool is_spokesman =
      std::ranges::none_of(peers_, [&](const Peer& peer) { return peer.rank < rank_ && !peer.has_ended; });
  throw PeerFailure(fmt::format("rank {} (process {} of this node) has died: the other ranks cannot go on", dead->rank,
                                dead->process),
                    is_spokesman);
}

void PeerWatch::look() {
  std::vector<pollfd> waits;
  for (const Peer& peer : peers_) {
    waits.push_back({.fd = peer.has_ended ? -1 : peer.descriptor, .events = POLLIN, .revents = 0});
  }
  if (poll(waits.data(), waits.size(), 0) <= 0) {
    return;
  }
  bool has_one_died = false;
  for (std::size_t i = 0; i < peers_.size(); ++i) {
    if (waits[i].revents != 0) {
      peers_[i].has_ended = true;
      peers_[i].has_died = has_left(peers_[i].page).load(std::memory_order_acquire) == 0;
      has_one_died = has_one_died || peers_[i].has_died;
    }
  }
  has_failed_.store(has_one_died, std::memory_order_release);
}

}  // namespace penstock::gas

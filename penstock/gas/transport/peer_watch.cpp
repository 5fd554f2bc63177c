#include "penstock/gas/transport/peer_watch.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <optional>
#include <utility>

#include "penstock/base/base.hpp"
#include "penstock/base/shared_memory.hpp"
#include "penstock/gas/gas.hpp"
#include "penstock/gas/transport/transport.hpp"

namespace penstock::gas {
namespace {

/// Calls between two questions to the system. A question takes a microsecond, and so many calls some tens of
/// microseconds; where a rank sleeps between its polls, about 50 ms.
constexpr unsigned calls_between_polls = 1024;

/// The thread that guards calls polls so often, and takes a call for one that does not return when so many polls in
/// turn have found it, with a peer dead.
constexpr std::chrono::milliseconds guard_pause{250};
constexpr int max_polls_of_a_call = 4;

/// What each process shows on a page of its own, which is zeroed at first.
struct Sign {
  std::atomic<std::uint32_t> has_left;    ///< by the process itself: it may end
  std::atomic<std::uint32_t> is_told_of;  ///< by the first that notices its death
};
static_assert(std::atomic<std::uint32_t>::is_always_lock_free);

Sign& sign_of(const Memory& page) {
  return *std::launder(reinterpret_cast<Sign*>(page.data()));
}

}  // namespace

void PeerWatch::begin(Transport& transport, std::span<const int> nodes) {
  const auto index = [](int rank) { return static_cast<std::size_t>(rank); };
  std::optional<SharedMemory> page;
  SharedMemoryTicket ticket;  // of no memory where there is none: then nobody watches this process
  try {
    page.emplace(sizeof(Sign));
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
  guard_ = {};
  leave();
  for (const Peer& peer : peers_) {
    close(peer.descriptor);
  }
}

void PeerWatch::leave() {
  if (mine_.size() > 0) {
    sign_of(mine_).has_left.store(1, std::memory_order_release);
  }
}

bool PeerWatch::has_failed() {
  if (has_failed_.load(std::memory_order_acquire)) {
    return true;
  }
  return calls_.fetch_add(1, std::memory_order_relaxed) % calls_between_polls == 0 && poll();
}

void PeerWatch::check() {
  if (has_failed()) {
    fail();
  }
}

void PeerWatch::check_now() {
  if (poll()) {
    fail();
  }
}

void PeerWatch::fail() {
  throw failure();
}

/// Who ends because of this has not died in its turn.
PeerFailure PeerWatch::failure() {
  const Peer& dead = *std::ranges::find_if(peers_, &Peer::has_died);
  leave();
  if (sign_of(dead.page).is_told_of.exchange(1) == 0) {
    is_spokesman_.store(true);
  }
  return {
      fmt::format("rank {} (process {} of this node) has died: the other ranks cannot go on", dead.rank, dead.process),
      is_spokesman_.load()};
}

void PeerWatch::guard_calls() {
  const std::scoped_lock lock(polling_);
  if (!guard_.joinable()) {
    guard_ = std::jthread([this](const std::stop_token& stop) { guard(stop); });
  }
}

void PeerWatch::guard(const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock(mutex);
  int polls = 0;
  for (std::uint64_t last = 0; polls < max_polls_of_a_call;) {
    never.wait_for(lock, stop, guard_pause, [] { return false; });
    if (stop.stop_requested()) {
      return;
    }
    const std::uint64_t now = calls_begun_and_ended_.load(std::memory_order_relaxed);
    const bool is_same_call = now % 2 == 1 && now == last;
    polls = is_same_call && poll() ? polls + 1 : 0;
    last = now;
  }
  // The rank's own thread cannot, and MPI is not to be asked for anything beside it.
  if (const PeerFailure told = failure(); told.is_spokesman()) {
    std::fprintf(stderr, "penstock: %s\n", told.what());
  }
  std::_Exit(EXIT_FAILURE);
}

bool PeerWatch::poll() {
  const std::scoped_lock lock(polling_);
  if (has_failed_.load(std::memory_order_relaxed)) {
    return true;
  }
  std::vector<pollfd> waits;
  for (const Peer& peer : peers_) {
    waits.push_back({.fd = peer.has_ended ? -1 : peer.descriptor, .events = POLLIN, .revents = 0});
  }
  if (::poll(waits.data(), waits.size(), 0) <= 0) {
    return false;
  }
  bool has_one_died = false;
  for (std::size_t i = 0; i < peers_.size(); ++i) {
    if (waits[i].revents != 0) {
      peers_[i].has_ended = true;
      peers_[i].has_died = sign_of(peers_[i].page).has_left.load(std::memory_order_acquire) == 0;
      has_one_died = has_one_died || peers_[i].has_died;
    }
  }
  has_failed_.store(has_one_died, std::memory_order_release);
  return has_one_died;
}

}  // namespace penstock::gas

#include "penstock/gas/transport/shm/node_memory.hpp"

#include <sys/uio.h>
#include <unistd.h>

#include <cstring>
#include <memory>
#include <mutex>
#include <random>
#include <unordered_map>

#include "penstock/gas/core/rank_index.hpp"
#include "penstock/gas/transport/transport.hpp"

namespace penstock::gas {
namespace {

/// What the threads of this process offer one another.
class ThreadOffers {
 public:
  std::uint64_t add(const std::byte* data) {
    const std::scoped_lock lock(mutex_);
    offered_.emplace(++last_, std::make_shared<Offered>(data));
    return last_;
  }

  void withdraw(std::uint64_t number) {
    const std::shared_ptr<Offered> offered = find(number);
    {
      const std::scoped_lock lock(mutex_);
      offered_.erase(number);
    }
    const std::scoped_lock lock(offered->mutex);
    offered->data = nullptr;
  }

  bool read(std::uint64_t number, std::size_t offset, std::span<std::byte> to) {
    const std::shared_ptr<Offered> offered = find(number);
    if (offered == nullptr) {
      return false;
    }
    const std::scoped_lock lock(offered->mutex);
    if (offered->data == nullptr) {
      return false;
    }
    std::memcpy(to.data(), offered->data + offset, to.size());
    return true;
  }

 private:
  struct Offered {
    explicit Offered(const std::byte* where) : data(where) {}

    std::mutex mutex;       // of one reader, so that it is waited for by who withdraws alone
    const std::byte* data;  // nullptr where it has been withdrawn
  };

  std::shared_ptr<Offered> find(std::uint64_t number) {
    const std::scoped_lock lock(mutex_);
    const auto found = offered_.find(number);
    return found == offered_.end() ? nullptr : found->second;
  }

  std::mutex mutex_;
  std::uint64_t last_ = 0;
  std::unordered_map<std::uint64_t, std::shared_ptr<Offered>> offered_;
};

ThreadOffers& thread_offers() {
  static ThreadOffers offers;
  return offers;
}

bool read_process(std::int64_t process, std::uint64_t address, std::span<std::byte> to) noexcept {
  const iovec target{.iov_base = to.data(), .iov_len = to.size()};
  const iovec source{.iov_base = reinterpret_cast<std::byte*>(address), .iov_len = to.size()};
  return process_vm_readv(static_cast<pid_t>(process), &target, 1, &source, 1, 0) == static_cast<ssize_t>(to.size());
}

std::uint64_t make_secret() {
  std::random_device random;
  return static_cast<std::uint64_t>(random()) << 32 | random();
}

}  // namespace

NodeMemory::Offer::~Offer() {
  if (is_to_thread_) {
    thread_offers().withdraw(name_);
  }
}

NodeMemory::NodeMemory(Transport& world) {
  if (!world.traits().maps_memory) {
    return;
  }
  // Its ranks are threads of this process. Numbers of processes do not tell: in another process namespace they are
  // others' too.
  static const std::uint64_t secret_of_process = make_secret();
  // No other process has that at its address.
  const std::uint64_t secret = make_secret();
  struct Probe {
    std::uint64_t secret_of_process;
    std::int64_t process;
    std::uint64_t address;
    std::uint64_t secret;
  };
  const Probe mine{secret_of_process, getpid(), reinterpret_cast<std::uint64_t>(&secret), secret};
  std::vector<Probe> probes(index(world.size()));
  world.all_gather(&mine, sizeof mine, probes.data());
  unsigned char reads_others = 1;
  for (int peer = 0; peer < world.size(); ++peer) {
    const Probe& probe = probes[index(peer)];
    const bool is_mine = probe.secret_of_process == secret_of_process;
    processes_.push_back({.number = probe.process, .is_mine = is_mine});
    std::uint64_t found = ~probe.secret;
    if (!is_mine && world.is_local(peer) &&
        !(read_process(probe.process, probe.address, std::as_writable_bytes(std::span(&found, 1))) &&
          found == probe.secret)) {
      reads_others = 0;
    }
  }
  reads_others_.resize(index(world.size()));
  world.all_gather(&reads_others, 1, reads_others_.data());  // nobody looks at the number after this
}

bool NodeMemory::is_read_by(int peer) const noexcept {
  return !reads_others_.empty() && reads_others_[index(peer)] != 0;
}

NodeMemory::Offer NodeMemory::offer(int peer, const std::byte* data) const {
  const bool is_to_thread = processes_[index(peer)].is_mine;
  return {is_to_thread ? thread_offers().add(data) : reinterpret_cast<std::uint64_t>(data), is_to_thread};
}

bool NodeMemory::read(int peer, std::uint64_t name, std::size_t offset, std::span<std::byte> to) const noexcept {
  const Process& process = processes_[index(peer)];
  return process.is_mine ? thread_offers().read(name, offset, to) : read_process(process.number, name + offset, to);
}

}  // namespace penstock::gas

// The threads transport: every rank is a thread of this process and all memory is in reach.
#include "penstock/gas/transport/threads/threads.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "penstock/base/base.hpp"

namespace penstock::gas {

/// What the ranks of one team share: a barrier, a board on which each rank shows something, and whether one failed.
class ThreadGroup {
 public:
  ThreadGroup(int size, std::shared_ptr<std::atomic<bool>> has_failed)
      : size_(size), board_(static_cast<std::size_t>(size)), has_failed_(std::move(has_failed)) {}

  int size() const noexcept { return size_; }

  void check() const {
    if (has_failed_->load(std::memory_order_relaxed)) {
      throw Error("another rank of this world has failed");
    }
  }

  // The last rank to arrive turns the page; the others wait for that.
  template <class Wait>
  void barrier(const Wait& wait) {
    const std::uint64_t page = page_.load(std::memory_order_acquire);
    if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == size_) {
      arrived_.store(0, std::memory_order_relaxed);
      page_.store(page + 1, std::memory_order_release);
      return;
    }
    wait([&] { return page_.load(std::memory_order_acquire) != page; });
  }

  using Shown = std::shared_ptr<const void>;
  void pin(int rank, Shown mine) { board_[static_cast<std::size_t>(rank)] = std::move(mine); }
  std::span<const Shown> board() const noexcept { return board_; }

  const std::shared_ptr<std::atomic<bool>>& failure_flag() const noexcept { return has_failed_; }

 private:
  int size_;
  std::vector<Shown> board_;
  std::atomic<int> arrived_{0};
  std::atomic<std::uint64_t> page_{0};
  std::shared_ptr<std::atomic<bool>> has_failed_;
};

namespace {

class ThreadRegion final : public Region {
 public:
  std::vector<std::shared_ptr<const Memory>> memories;  // keeps the peers' memory as long as it can be addressed
};

class ThreadTransport final : public Transport {
 public:
  ThreadTransport(std::shared_ptr<ThreadGroup> group, int rank) : group_(std::move(group)), rank_(rank) {}

  int rank() const noexcept override { return rank_; }
  int size() const noexcept override { return group_->size(); }
  TransportTraits traits() const override { return {.name = "threads", .maps_memory = size() > 1, .network = {}}; }
  bool is_local(int) const noexcept override { return true; }
  bool allows_threads() const noexcept override { return true; }
  void barrier() override {
    group_->barrier([this](const auto& is_done) { wait_serving(is_done); });
    count_completed();
  }
  void check_peers() const override { group_->check(); }

  void all_gather(const void* mine, std::size_t bytes, void* all) override {
    const auto* const first = static_cast<const std::byte*>(mine);
    share(std::vector<std::byte>(first, first + bytes), [&](std::span<const ThreadGroup::Shown> board) {
      for (std::size_t i = 0; i < board.size(); ++i) {
        const auto& given = *static_cast<const std::vector<std::byte>*>(board[i].get());
        std::copy(given.begin(), given.end(), static_cast<std::byte*>(all) + i * bytes);
      }
    });
  }

  std::unique_ptr<Transport> split(int color, int key) override {
    struct Wish {
      int color, key;
    };
    std::vector<int> members;  // ranks in this team, in the order of the new one
    share(Wish{color, key}, [&](std::span<const ThreadGroup::Shown> board) {
      const auto wish_of = [&](int i) { return *static_cast<const Wish*>(board[static_cast<std::size_t>(i)].get()); };
      for (int i = 0; i < size(); ++i) {
        if (wish_of(i).color == color) {
          members.push_back(i);
        }
      }
      std::stable_sort(members.begin(), members.end(), [&](int a, int b) { return wish_of(a).key < wish_of(b).key; });
    });
    // The first member makes the group that all members share.
    const auto made = std::make_shared<ThreadGroup>(static_cast<int>(members.size()), group_->failure_flag());
    std::shared_ptr<ThreadGroup> group;
    share(made, [&](std::span<const ThreadGroup::Shown> board) {
      group = *static_cast<const std::shared_ptr<ThreadGroup>*>(board[static_cast<std::size_t>(members.front())].get());
    });
    const auto position = std::find(members.begin(), members.end(), rank_) - members.begin();
    return std::make_unique<ThreadTransport>(std::move(group), static_cast<int>(position));
  }

  std::unique_ptr<Region> map(std::size_t bytes) override {
    std::shared_ptr<const Memory> memory;
    const std::string failure = failure_of(rank_, [&] { memory = std::make_shared<Memory>(bytes); });
    auto region = std::make_unique<ThreadRegion>();
    std::string first_failure;
    struct Offer {
      std::string failure;
      std::shared_ptr<const Memory> memory;
    };
    share(Offer{failure, memory}, [&](std::span<const ThreadGroup::Shown> board) {
      for (const ThreadGroup::Shown& entry : board) {
        const Offer& offer = *static_cast<const Offer*>(entry.get());
        if (!offer.failure.empty()) {
          first_failure = offer.failure;
          return;
        }
        region->memories.push_back(offer.memory);
        region->at.push_back(offer.memory->data());
      }
    });
    if (!first_failure.empty()) {
      throw TeamFailure(first_failure, true);
    }
    region->mine = {memory->data(), memory->size()};
    return region;
  }

 private:
  /// Collective: shows `mine` to all, lets each rank read everyone's. Where waiting throws it stays on the board, as
  /// the others may be reading it.
  template <class T, class Read>
  void share(T mine, const Read& read) {
    group_->pin(rank_, std::make_shared<const T>(std::move(mine)));
    barrier();
    read(group_->board());
    barrier();
    group_->pin(rank_, nullptr);
  }

  std::shared_ptr<ThreadGroup> group_;
  int rank_;
};

}  // namespace

std::unique_ptr<Transport> make_alone_transport() {
  auto group = std::make_shared<ThreadGroup>(1, std::make_shared<std::atomic<bool>>(false));
  return std::make_unique<ThreadTransport>(std::move(group), 0);
}

void run_thread_ranks(int ranks, const std::function<void(std::unique_ptr<Transport>)>& body) {
  if (ranks < 1) {
    throw Error("a world of " + std::to_string(ranks) + " ranks: at least 1 is needed");
  }
  const auto has_failed = std::make_shared<std::atomic<bool>>(false);
  const auto group = std::make_shared<ThreadGroup>(ranks, has_failed);
  std::mutex mutex;
  std::exception_ptr first_failure;
  {
    std::vector<std::thread> threads;
    const auto fail = [&] {
      const std::scoped_lock lock(mutex);
      if (!first_failure) {
        first_failure = std::current_exception();
      }
      has_failed->store(true, std::memory_order_relaxed);
    };
    try {
      for (int rank = 0; rank < ranks; ++rank) {
        threads.emplace_back(start_thread([&, rank] {
          try {
            body(std::make_unique<ThreadTransport>(group, rank));
          } catch (...) {
            fail();
          }
        }));
      }
    } catch (...) {
      fail();  // the ranks there are do not wait for the others
    }
    for (std::thread& thread : threads) {
      thread.join();
    }
  }
  if (first_failure) {
    std::rethrow_exception(first_failure);
  }
}

}  // namespace penstock::gas

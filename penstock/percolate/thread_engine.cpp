// Threads that read and write with blocking calls: what every system has.
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "penstock/base/thread_pool.hpp"
#include "penstock/percolate/engines.hpp"
#include "penstock/percolate/requests.hpp"

namespace penstock::percolate {
namespace {

class ThreadEngine final : public Engine {
 public:
  explicit ThreadEngine(int threads) {
    try {
      for (int i = 0; i < threads; ++i) {
        threads_.push_back(start_thread([this] { serve(); }));
      }
    } catch (...) {
      end();
      throw;
    }
  }

  ~ThreadEngine() override { end(); }

  std::string_view name() const noexcept override { return "threads"; }

  void start(const Transfer& transfer, Done done) override {
    {
      const std::lock_guard lock(mutex_);
      waiting_.push_back(std::make_shared<Underway>(Underway{.transfer = transfer, .done = std::move(done)}));
    }
    wake_.notify_all();
  }

 private:
  /// Pieces for one thread's turn: as much as keeps the lock out of the way of short runs.
  static std::vector<Request> take_turn(Underway& underway) {
    std::vector<Request> turn;
    for (std::size_t bytes = 0; !underway.is_requested() && bytes < Underway::max_bytes && turn.size() < 64;) {
      turn.push_back(underway.next());
      bytes += turn.back().bytes;
    }
    return turn;
  }

  void end() {
    {
      const std::lock_guard lock(mutex_);
      is_ending_ = true;
    }
    wake_.notify_all();
    for (std::thread& thread : threads_) {
      thread.join();
    }
  }

  void serve() {
    std::unique_lock lock(mutex_);
    while (true) {
      wake_.wait(lock, [&] { return is_ending_ || !waiting_.empty(); });
      if (waiting_.empty()) {
        return;
      }
      const std::shared_ptr<Underway> underway = waiting_.front();
      const std::vector<Request> turn = take_turn(*underway);
      if (underway->is_requested()) {
        waiting_.pop_front();
      }
      lock.unlock();
      std::exception_ptr failure;
      try {
        for (const Request& request : turn) {
          request.move();
        }
      } catch (...) {
        failure = std::current_exception();
      }
      lock.lock();
      underway->out -= static_cast<int>(turn.size());
      if (failure && !underway->failure) {
        underway->failure = std::move(failure);
        std::erase(waiting_, underway);
      }
      if (underway->is_done()) {
        lock.unlock();
        underway->done(std::exchange(underway->failure, nullptr));
        lock.lock();
      }
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::shared_ptr<Underway>> waiting_;  // with something yet to request
  bool is_ending_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace

std::unique_ptr<Engine> make_thread_engine(int threads) {
  return std::make_unique<ThreadEngine>(threads);
}

}  // namespace penstock::percolate

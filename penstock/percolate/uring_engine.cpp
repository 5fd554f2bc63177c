// io_uring: one thread hands requests to the kernel and takes the answers, however many are out. Another makes the
// calls that the kernel would make on threads of its own.
#include <liburing.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
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

class UringEngine final : public Engine {
 public:
  /// `ring` and `wake` are this object's from now on.
  UringEngine(io_uring ring, int wake, int depth) : ring_(ring), wake_(wake), out_(static_cast<std::size_t>(depth)) {
    for (std::size_t i = 0; i < out_.size(); ++i) {
      free_.push_back(i);
    }
    thread_ = start_thread([this] { serve(); });
  }

  ~UringEngine() override {
    {
      const std::lock_guard lock(mutex_);
      is_ending_ = true;
    }
    wake();
    thread_.join();
    io_uring_queue_exit(&ring_);
    close(wake_);
  }

  std::string_view name() const noexcept override { return "io_uring"; }

  void start(const Transfer& transfer, Done done) override {
    if (is_for_a_call(transfer)) {
      calls_->start(transfer, std::move(done));
      return;
    }
    const auto underway = std::make_shared<Underway>(Underway{.transfer = transfer, .done = std::move(done)});
    // The lock is held until the thread is woken: the transfer may be done before, and the engine at its end, which
    // must not close what is still written to.
    const std::lock_guard lock(mutex_);
    started_.push_back(underway);
    wake();
  }

 private:
  struct Submission {
    std::shared_ptr<Underway> underway;
    Request request;
  };
  static constexpr std::size_t wake_number = ~std::size_t{0};

  /// What the kernel does not do while it is asked, but hands to threads of its own, one request after the other: those
  /// answer each by itself, and beside threads that compute each answer waits for its turn (a strip of 512 runs of 12
  /// KiB took 55 ms, and takes 8 in calls).
  static bool is_for_a_call(const Transfer& transfer) noexcept {
    switch (transfer.kind) {
      case Transfer::Kind::read:
        return false;
      case Transfer::Kind::write:
        return !transfer.file->passes_by_cache();
      case Transfer::Kind::read_ahead:
      case Transfer::Kind::sync:
        return true;
    }
    return true;
  }

  void wake() const {
    const std::uint64_t one = 1;
    // Fails only where the counter is full, and then it wakes as well.
    static_cast<void>(!write(wake_, &one, sizeof one));
  }

  /// The thread waits for the ring alone; this request is answered when something is started.
  void listen() {
    io_uring_sqe* entry = io_uring_get_sqe(&ring_);
    io_uring_prep_read(entry, wake_, &woken_, sizeof woken_, 0);
    io_uring_sqe_set_data64(entry, wake_number);
  }

  void submit(const std::shared_ptr<Underway>& underway) {
    const Request request = underway->next();
    io_uring_sqe* entry = io_uring_get_sqe(&ring_);
    const int fd = request.file->descriptor();
    const auto offset = static_cast<std::uint64_t>(request.offset);
    if (request.kind == Transfer::Kind::read) {
      io_uring_prep_read(entry, fd, request.data, static_cast<unsigned>(request.bytes), offset);
    } else {
      io_uring_prep_write(entry, fd, request.data, static_cast<unsigned>(request.bytes), offset);
    }
    const std::size_t number = free_.back();
    free_.pop_back();
    out_[number] = {underway, request};
    io_uring_sqe_set_data64(entry, number);
  }

  /// Takes the answer to a request; the transfer that it ends, if any.
  std::shared_ptr<Underway> take_answer(std::size_t number, int result) {
    Submission submission = std::exchange(out_[number], {});
    free_.push_back(number);
    Underway& underway = *submission.underway;
    if (result < 0 || static_cast<std::size_t>(result) != submission.request.bytes) {
      // A plain call moves what the ring did not, or tells why it cannot.
      try {
        submission.request.move();
      } catch (...) {
        underway.failure = underway.failure ? underway.failure : std::current_exception();
      }
    }
    --underway.out;
    return underway.is_done() ? submission.underway : nullptr;
  }

  void serve() {
    listen();
    while (true) {
      bool is_ending = false;
      {
        const std::lock_guard lock(mutex_);
        std::move(started_.begin(), started_.end(), std::back_inserter(waiting_));
        started_.clear();
        is_ending = is_ending_;
      }
      while (!waiting_.empty() && !free_.empty()) {
        if (!waiting_.front()->is_requested()) {
          submit(waiting_.front());
        }
        if (waiting_.front()->is_requested()) {
          waiting_.pop_front();
        }
      }
      if (is_ending && waiting_.empty() && free_.size() == out_.size()) {
        return;
      }
      io_uring_submit_and_wait(&ring_, 1);  // interrupted or short of memory: the loop comes here again
      io_uring_cqe* answer = nullptr;
      while (io_uring_peek_cqe(&ring_, &answer) == 0) {
        const std::uint64_t number = io_uring_cqe_get_data64(answer);
        const int result = answer->res;
        io_uring_cqe_seen(&ring_, answer);
        if (number == wake_number) {
          listen();
        } else if (const auto ended = take_answer(number, result)) {
          ended->done(std::exchange(ended->failure, nullptr));
        }
      }
    }
  }

  std::unique_ptr<Engine> calls_ = make_thread_engine(1);
  io_uring ring_;
  int wake_;
  std::uint64_t woken_ = 0;
  std::mutex mutex_;
  std::deque<std::shared_ptr<Underway>> started_;  // by others, not yet seen by the thread
  bool is_ending_ = false;
  // The thread's own.
  std::deque<std::shared_ptr<Underway>> waiting_;
  std::vector<Submission> out_;
  std::vector<std::size_t> free_;  // numbers of `out_`
  std::thread thread_;
};

}  // namespace

std::unique_ptr<Engine> make_uring_engine(int depth) {
  io_uring ring;
  // One entry more than requests, for the wake; the ring rounds up to a power of two.
  if (io_uring_queue_init(static_cast<unsigned>(depth) + 1, &ring, 0) != 0) {
    return nullptr;
  }
  const int wake = eventfd(0, EFD_CLOEXEC);
  if (wake < 0) {
    io_uring_queue_exit(&ring);
    return nullptr;
  }
  return std::make_unique<UringEngine>(ring, wake, depth);
}

}  // namespace penstock::percolate

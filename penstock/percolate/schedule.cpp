// The run of a program: parcels become operations that wait for one another, operations that wait for nothing begin,
// and each that ends releases others. There is no thread that only directs: whoever ends something does it.
#include "penstock/percolate/schedule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include "penstock/base/clock.hpp"
#include "penstock/base/error.hpp"
#include "penstock/base/thread_pool.hpp"
#include "penstock/base/trace.hpp"
#include "penstock/percolate/hazards.hpp"

namespace penstock::percolate {
namespace {

struct Body;

struct Fetch final : Operation {
  Arrival arrival;
  double begin_s = 0;
  std::uint64_t after = 0;     // the event that it waited for
  std::shared_ptr<Body> body;  // of its parcel
};

struct Body final : Operation {
  Parcel parcel;
  std::int64_t number = 0;  // in the program
  std::size_t out = 0;      // transfers outward that are not done
};

class Run {
 public:
  Run(const Slots& slots, Engine& engine, const Program& program, const RunOptions& options)
      : slots_(slots),
        engine_(engine),
        program_(program),
        options_(options),
        histories_(static_cast<std::size_t>(slots.count())) {}

  RunTimes walk() {
    {
      const Change change(*this);
      draw();
    }
    std::vector<std::thread> workers;
    try {
      for (int i = 1; i < options_.workers; ++i) {
        if (recorder_ != nullptr) {
          recorder_->thread(i);  // made here, where an exception is caught
        }
        workers.push_back(start_thread([this, i] {
          const trace::Recording recording(recorder_, i);
          serve();
        }));
      }
    } catch (...) {
      const Change change(*this);
      fail(std::current_exception());
    }
    serve();
    for (std::thread& worker : workers) {
      worker.join();
    }
    if (failure_) {
      std::rethrow_exception(failure_);
    }
    times_.total_s = now();
    return times_;
  }

 private:
  /// Holds the lock; on its end, the transfers that became ready go to the engine, without the lock, as an engine may
  /// be done with one before `start` returns.
  class Change {
   public:
    explicit Change(Run& run) : run_(run), lock_(run.mutex_) {}
    ~Change() {
      std::vector<std::pair<Transfer, Engine::Done>> ready;
      ready.swap(run_.ready_transfers_);
      if (run_.failure_) {
        ready.clear();
      }
      run_.under_way_ += static_cast<std::int64_t>(ready.size());
      run_.wake_.notify_all();  // under the lock: where all is over, the run may be gone as soon as that is released
      lock_.unlock();
      for (auto& [transfer, done] : ready) {
        run_.start(transfer, std::move(done));
      }
    }
    Change(const Change&) = delete;
    Change& operator=(const Change&) = delete;

   private:
    Run& run_;
    std::unique_lock<std::mutex> lock_;
  };

  double now() const { return seconds() - begin_s_; }

  /// Takes the failure over: its last reference is then with the thread that throws it.
  void fail(std::exception_ptr failure) {
    if (!failure_) {
      failure_ = std::move(failure);
    }
  }

  void start(const Transfer& transfer, Engine::Done done) {
    try {
      engine_.start(transfer, done);
    } catch (...) {
      done(std::current_exception());
    }
  }

  bool is_over() const { return failure_ ? under_way_ == 0 : is_drawn_ && live_ == 0; }

  /// Takes parcels from the program as long as the window has room.
  void draw() {
    if (is_drawing_) {
      return;  // a parcel that was entered was gone at once: the loop below goes on by itself
    }
    is_drawing_ = true;
    try {
      while (!failure_ && !is_drawn_ && live_ < options_.window) {
        if (std::optional<Parcel> parcel = program_()) {
          enter(*std::move(parcel));
        } else {
          is_drawn_ = true;
        }
      }
    } catch (...) {
      fail(std::current_exception());
    }
    is_drawing_ = false;
  }

  SlotHistory& history(Slot slot) { return histories_[static_cast<std::size_t>(slot.number)]; }

  void enter(Parcel parcel) {
    const auto body = std::make_shared<Body>();
    body->parcel = std::move(parcel);
    body->number = times_.parcels++;
    ++live_;
    std::vector<std::shared_ptr<Fetch>> fetches;
    for (const Arrival& arrival : body->parcel.inward) {
      const auto fetch = std::make_shared<Fetch>();
      fetch->arrival = arrival;
      fetch->body = body;
      history(arrival.slot).change(fetch);
      if (arrival.after) {
        history(*arrival.after).use(fetch);
      }
      fetches.push_back(fetch);
    }
    for (const Arrival& arrival : body->parcel.inward) {
      const auto& changes = body->parcel.changes;
      if (std::find(changes.begin(), changes.end(), arrival.slot) == changes.end()) {
        history(arrival.slot).use(body);
      }
    }
    for (const Slot slot : body->parcel.uses) {
      history(slot).use(body);
    }
    for (const Slot slot : body->parcel.changes) {
      history(slot).change(body);
    }
    for (const auto& fetch : fetches) {
      if (fetch->blockers == 0) {
        begin(*fetch, fetch, 0);
      }
    }
    if (body->blockers == 0) {
      enable(body, 0);
    }
  }

  /// With the lock held: records what has lasted from `begin_s` until now, and returns its id.
  std::uint64_t record(trace::Track& track, const std::string& label, trace::Category category, double begin_s,
                       std::uint64_t after, std::int64_t bytes = -1) {
    const std::uint64_t id = recorder_->next_id();
    track.add({.name = recorder_->keep(label),
               .begin_s = begin_s,
               .end_s = seconds(),
               .id = id,
               .after = after,
               .bytes = bytes,
               .category = category});
    return id;
  }

  /// Transfers outward overlap: the number of one that is not under way.
  std::size_t take_outward_track() {
    const auto free = std::find(outward_.begin(), outward_.end(), false);
    const auto number = static_cast<std::size_t>(free - outward_.begin());
    outward_.resize(std::max(outward_.size(), number + 1));
    outward_[number] = true;
    return number;
  }

  void count(const Transfer& transfer) {
    const auto bytes = static_cast<std::int64_t>(transfer.bytes());
    (transfer.kind == Transfer::Kind::read ? times_.read_bytes : times_.written_bytes) += bytes;
  }

  void begin(Fetch& fetch, const std::shared_ptr<Fetch>& pointer, std::uint64_t after) {
    count(fetch.arrival.transfer);
    fetch.begin_s = seconds();
    fetch.after = after;
    ready_transfers_.emplace_back(fetch.arrival.transfer, [this, pointer](std::exception_ptr failure) {
      const Change change(*this);
      if (recorder_ != nullptr) {
        const Arrival& arrival = pointer->arrival;
        pointer->event = record(recorder_->track("slot " + slots_.name(arrival.slot)),
                                pointer->body->parcel.label + ": arrives", trace::Category::storage, pointer->begin_s,
                                pointer->after, static_cast<std::int64_t>(arrival.transfer.bytes()));
      }
      end_transfer(std::move(failure));
      if (!failure_) {
        end(*pointer);
      }
    });
  }

  void end_transfer(std::exception_ptr failure) {
    --under_way_;
    if (failure) {
      fail(std::move(failure));
    }
  }

  /// A body that waits for nothing: its work is a worker's, and without one it retires at once.
  void enable(const std::shared_ptr<Body>& body, std::uint64_t after) {
    body->event = after;
    if (body->parcel.work) {
      enabled_.emplace(body->number, body);
    } else {
      retire(body);
    }
  }

  void retire(const std::shared_ptr<Body>& body) {
    body->out = body->parcel.outward.size();
    if (body->out == 0) {
      leave(body);
      return;
    }
    for (const Transfer& transfer : body->parcel.outward) {
      count(transfer);
      const double begin_s = seconds();
      const std::size_t number = recorder_ == nullptr ? 0 : take_outward_track();
      const std::uint64_t after = body->event;
      ready_transfers_.emplace_back(transfer, [=, this, bytes = transfer.bytes()](std::exception_ptr failure) {
        const Change change(*this);
        std::uint64_t event = 0;
        if (recorder_ != nullptr) {
          event = record(recorder_->track(fmt::format("outward {}", number)), body->parcel.label + ": leaves",
                         trace::Category::storage, begin_s, after, static_cast<std::int64_t>(bytes));
          outward_[number] = false;
        }
        end_transfer(std::move(failure));
        if (--body->out == 0 && !failure_) {
          body->event = event;
          leave(body);
        }
      });
    }
  }

  void leave(const std::shared_ptr<Body>& body) {
    --live_;
    end(*body);
    draw();
  }

  /// Releases what waited for the operation.
  void end(Operation& operation) {
    operation.is_done = true;
    for (const OperationPointer& successor : std::exchange(operation.successors, {})) {
      if (--successor->blockers > 0) {
        continue;
      }
      if (const auto fetch = std::dynamic_pointer_cast<Fetch>(successor)) {
        begin(*fetch, fetch, operation.event);
      } else {
        enable(std::static_pointer_cast<Body>(successor), operation.event);
      }
    }
  }

  /// A worker: the earliest enabled parcel first, so that slots come free in the order in which others wait for them.
  void serve() {
    while (true) {
      std::shared_ptr<Body> body;
      double begin_s = 0;
      {
        std::unique_lock lock(mutex_);
        const double wait_s = now();
        wake_.wait(lock, [&] { return is_over() || (!failure_ && !enabled_.empty()); });
        begin_s = now();
        times_.idle_s += begin_s - wait_s;
        if (failure_ || enabled_.empty()) {
          return;
        }
        body = enabled_.begin()->second;
        enabled_.erase(enabled_.begin());
        ++under_way_;
      }
      std::exception_ptr failure;
      try {
        body->parcel.work();
      } catch (...) {
        failure = std::current_exception();
      }
      const Change change(*this);
      if (trace::Track* const track = trace::this_track(); track != nullptr) {
        body->event = record(*track, body->parcel.label, trace::Category::work, begin_s_ + begin_s, body->event);
      }
      times_.work_s += now() - begin_s;
      end_transfer(std::move(failure));
      if (!failure_) {
        retire(body);
      }
    }
  }

  const Slots& slots_;
  Engine& engine_;
  const Program& program_;
  const RunOptions& options_;
  const double begin_s_ = seconds();
  trace::Recorder* const recorder_ = trace::this_recorder();  // nullptr: nothing is recorded

  std::mutex mutex_;
  std::condition_variable wake_;  // something was enabled, or all is over
  std::vector<SlotHistory> histories_;
  std::map<std::int64_t, std::shared_ptr<Body>> enabled_;  // by number in the program
  std::vector<std::pair<Transfer, Engine::Done>> ready_transfers_;
  std::int64_t live_ = 0;       // parcels drawn and not gone
  std::int64_t under_way_ = 0;  // transfers and works that have begun and not ended
  bool is_drawing_ = false;
  bool is_drawn_ = false;  // the program is at its end
  std::exception_ptr failure_;
  std::vector<bool> outward_;  // by track of what leaves: whether it has a transfer under way
  RunTimes times_;
};

}  // namespace

RunTimes run(const Slots& slots, Engine& engine, const Program& program, const RunOptions& options) {
  if (options.workers < 1 || options.window < 1) {
    throw Error(fmt::format("a run with {} workers and a window of {} parcels gets nowhere: give 1 or more of each",
                            options.workers, options.window));
  }
  return Run(slots, engine, program, options).walk();
}

}  // namespace penstock::percolate

// What the threads of a rank do and when, recorded in memory: the events of a timeline (penstock/timeline).
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <initializer_list>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/base/clock.hpp"

#pragma GCC visibility push(default)

namespace penstock::trace {

/// The kind of an event.
enum class Category : std::uint8_t {
  transform,   ///< 1-D transforms of a tile
  multiply,    ///< a multiply of blocks
  work,        ///< other computation
  move,        ///< a copy between memory and cache, or from a peer's memory
  send,        ///< a put, a signal, or the start of a collective call
  wait,        ///< a wait for a peer, or for another thread
  collective,  ///< a collective call, which lasts until the last rank that it needs is there
  storage,     ///< a transfer from or to a file
  step,        ///< a repetition, or another part of a run that users ask for
};
inline constexpr std::array category_names{"transform", "multiply",   "work",    "move", "send",
                                           "wait",      "collective", "storage", "step"};

/// Where in a plan an event belongs; -1: nowhere.
struct Place {
  std::int32_t outer = -1;  ///< the outer index of a tile
  std::int32_t tile = -1;   ///< the tile's number at that index
  std::int16_t stage = -1;  ///< the number of the plan's stage
};

/// Something that lasted. A cache line.
struct Event {
  const char* name = "";  ///< a literal, or what Recorder::keep has returned
  double begin_s = 0;     ///< of seconds(), as `end_s`
  double end_s = 0;
  std::uint64_t id = 0;     ///< by which later events of any rank name this one; 0: by none
  std::uint64_t after = 0;  ///< the id of the event that this one waited for; 0: of none
  std::int64_t bytes = -1;  ///< that were moved; -1: none
  std::int32_t outer = -1;  ///< its place, which its track fills in
  std::int32_t tile = -1;
  std::int32_t peer = -1;  ///< the rank of the world that is concerned; -1: none
  std::int16_t stage = -1;
  Category category = Category::work;
};

/// A number for the ids of events, made of several.
constexpr std::uint64_t mix(std::initializer_list<std::uint64_t> parts) noexcept {
  std::uint64_t number = 0;
  for (const std::uint64_t part : parts) {
    // The finaliser of splitmix64 (Steele et al. 2014).
    number += part + 0x9e3779b97f4a7c15;
    number = (number ^ number >> 30) * 0xbf58476d1ce4e5b9;
    number = (number ^ number >> 27) * 0x94d049bb133111eb;
    number ^= number >> 31;
  }
  return number;
}

class Recorder;

/// The events of one row of a timeline, in the order in which they ended. One thread at a time adds events.
class Track {
 public:
  Track(Recorder& recorder, std::string name, std::int64_t max_events)
      : recorder_(&recorder), name_(std::move(name)), max_events_(max_events) {}

  /// Adds an event, at `place()`. Takes memory once for some thousand events. Events beyond the limit, and those that
  /// there is no memory for, are counted instead.
  void add(const Event& event) noexcept {
    if (next_ == end_ && !grow()) {
      return;
    }
    *next_ = event;
    next_->outer = place_.outer;
    next_->tile = place_.tile;
    next_->stage = place_.stage;
    ++next_;
  }

  /// The place of the events that are added from now on.
  void set_place(const Place& place) noexcept { place_ = place; }

  Recorder& recorder() const noexcept { return *recorder_; }
  const std::string& name() const noexcept { return name_; }
  /// How many events were not kept.
  std::int64_t dropped() const noexcept { return dropped_; }
  std::vector<Event> events() const;

 private:
  static constexpr std::int64_t chunk_events = 4096;  // 256 KiB

  bool grow() noexcept;

  Event* next_ = nullptr;
  Event* end_ = nullptr;
  Place place_ = {};
  std::int64_t dropped_ = 0;
  Recorder* recorder_;
  std::string name_;
  std::int64_t max_events_;
  std::vector<std::vector<Event>> chunks_;  // all full but the last
};

/// The tracks of one rank. Thread-safe; the rank's threads must have ended their recordings before it is read.
class Recorder {
 public:
  /// Each track keeps its first `max_events` events. `rank` tells the ids of several recorders apart.
  explicit Recorder(std::int64_t max_events, int rank = 0) : max_events_(max_events), rank_(rank) {}
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  /// The track of a thread of the rank, numbered from 0.
  Track& thread(int number);
  /// The track of that name, made when it is first asked for.
  Track& track(std::string_view name);
  /// A copy of `text` that lives as long as the recorder; the same for the same text.
  const char* keep(std::string_view text);
  /// An id for an event that no other event has.
  std::uint64_t next_id() noexcept;

  /// All of them: those of threads by number, then the others in the order in which they were made.
  std::vector<const Track*> tracks() const;

 private:
  Track& find(std::deque<Track>& in, std::string_view name);

  std::int64_t max_events_;
  int rank_;
  std::atomic<std::uint64_t> last_id_ = 0;
  mutable std::mutex mutex_;
  std::deque<Track> threads_;
  std::deque<Track> others_;
  std::set<std::string, std::less<>> texts_;
};

namespace detail {
// Of each thread: a rank is one or several threads, so that ranks of one process do not share it.
extern constinit thread_local Track* track_of_this_thread;
}  // namespace detail

/// Where this thread's events go; nullptr where it does not record.
inline Track* this_track() noexcept {
  return detail::track_of_this_thread;
}

/// Where the threads of a pool that this thread wakes record to; nullptr where it does not record.
inline Recorder* this_recorder() noexcept {
  return this_track() == nullptr ? nullptr : &this_track()->recorder();
}

/// Lets this thread record, as thread `number` of its rank, as long as the object lives; does nothing where `recorder`
/// is nullptr.
class [[nodiscard]] Recording {
 public:
  explicit Recording(Recorder* recorder, int number = 0);
  ~Recording() { detail::track_of_this_thread = before_; }
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

 private:
  Track* before_ = this_track();
};

/// Keeps this thread, and the pools that it wakes, from recording as long as the object lives.
class [[nodiscard]] Pause {
 public:
  Pause() noexcept : track_(this_track()) { detail::track_of_this_thread = nullptr; }
  ~Pause() { detail::track_of_this_thread = track_; }
  Pause(const Pause&) = delete;
  Pause& operator=(const Pause&) = delete;

 private:
  Track* track_;
};

/// What is known of an event before it begins.
struct About {
  std::int32_t peer = -1;
  std::int64_t bytes = -1;
  std::uint64_t id = 0;
  std::uint64_t after = 0;
};

/// Whether events within another one are recorded.
enum class Within : std::uint8_t { hidden, recorded };

/// Records an event as long as the object lives.
class [[nodiscard]] Span {
 public:
  Span(const char* name, Category category, const About& about = {}, Within within = Within::hidden) noexcept
      : track_(this_track()), name_(name), category_(category), about_(about) {
    if (track_ != nullptr) {
      detail::track_of_this_thread = within == Within::hidden ? nullptr : track_;
      begin_s_ = seconds();
    }
  }
  ~Span() {
    if (track_ != nullptr) {
      end();
    }
  }
  Span(const Span&) = delete;
  Span& operator=(const Span&) = delete;

 private:
  void end() noexcept;

  Track* track_;
  const char* name_;
  Category category_;
  About about_;
  double begin_s_ = 0;
};

/// The track of steps.
inline constexpr const char* steps_track = "steps";

/// Records a step of the run, "forward 3", in a track for steps, as long as the object lives.
class [[nodiscard]] Step {
 public:
  explicit Step(std::string_view name, std::optional<int> number = {});
  ~Step();
  Step(const Step&) = delete;
  Step& operator=(const Step&) = delete;

 private:
  Track* track_ = nullptr;
  const char* name_ = "";
  double begin_s_ = 0;
};

}  // namespace penstock::trace

#pragma GCC visibility pop

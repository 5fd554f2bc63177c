// The events of a run, each with the one that it waited for, in the format of Chrome's trace viewer. Included by
// percolate.hpp.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#pragma GCC visibility push(default)

namespace penstock::percolate {

/// A transfer, or the work of a parcel.
struct Event {
  std::string label;
  std::string lane;     ///< a worker, the slot that is filled, or "outward"
  double wanted_s = 0;  ///< when its parcel was drawn; as the other times, since the trace's first run began
  double begin_s = 0;
  double end_s = 0;
  std::int64_t after = -1;  ///< the number of the event that it waited for last, -1 where there was none
};

/// The events of a run in the order in which they began. Not thread-safe: the run that fills it locks.
class Trace {
 public:
  /// Keeps the first `max_events`, so that the trace of a long run does not use up the memory of the run.
  explicit Trace(std::size_t max_events = 100000) : max_events_(max_events) {}

  /// Adds `begin_s` to the times of later events: for a run that follows another one in the same trace.
  void go_on_at(double begin_s) noexcept { begin_s_ = begin_s; }

  /// Adds an event and returns its number, or -1 where no more are kept.
  std::int64_t begin(Event event);
  void end(std::int64_t number, double end_s);

  const std::vector<Event>& events() const noexcept { return events_; }
  /// JSON for chrome://tracing or ui.perfetto.dev: a row for each lane, an arrow to each event from the one that it
  /// waited for, and the time from `wanted_s` to `begin_s`.
  std::string chrome_json() const;

 private:
  std::size_t max_events_;
  double begin_s_ = 0;  // of the run, since the first began
  std::vector<Event> events_;
};

}  // namespace penstock::percolate

#pragma GCC visibility pop

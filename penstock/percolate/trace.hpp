// What waited for what in a run of a schedule, in the format of Chrome's trace viewer. Included by percolate.hpp.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace penstock::percolate {

/// Something that took its time: a transfer, or the function of a parcel.
struct Event {
  std::string label;
  std::string lane;     ///< a worker, or the slot that is filled or emptied
  double wanted_s = 0;  ///< since the run began: when its parcel was drawn from the program
  double begin_s = 0;
  double end_s = 0;
  std::int64_t after = -1;  ///< the number of the event that it waited for last, -1 where there was none
};

/// The events of a run in the order in which they began. Not thread-safe: the run that fills it locks.
class Trace {
 public:
  /// Keeps the first `max_events`, so that a long run does not eat the memory that it was given.
  explicit Trace(std::size_t max_events = 100000) : max_events_(max_events) {}

  /// Events to come begin so much later: of a run after another that the same trace has.
  void go_on_at(double begin_s) noexcept { begin_s_ = begin_s; }

  /// The number of the event, or -1 where no more are kept.
  std::int64_t begin(Event event);
  void end(std::int64_t number, double end_s);

  const std::vector<Event>& events() const noexcept { return events_; }
  /// JSON for chrome://tracing or ui.perfetto.dev: a row for each lane, an arrow to each event from what it waited for,
  /// and how long it had been wanted.
  std::string chrome_json() const;

 private:
  std::size_t max_events_;
  double begin_s_ = 0;  // of the run, since the first began
  std::vector<Event> events_;
};

}  // namespace penstock::percolate

// One line on a terminal that says what a long run is at, and how long it will take.
#pragma once

#include <string>
#include <string_view>

#include "penstock/cli/core/session.hpp"

namespace penstock::cli {

/// "1 h 02 min left", "3 min 20 s left", "12 s left"
std::string time_left(double time_s);

/// Shows the present step on standard error where that is a terminal, on the first rank; takes it away on destruction.
class Progress {
 public:
  explicit Progress(const Session& session);
  ~Progress() { show(""); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Replaces the step shown; nothing for an empty text, so that something else can be printed.
  void show(std::string_view step) noexcept;
  /// The same of step `number`, from 1, of `count` that take about as long. From the second that is shown on, the time
  /// left follows from what those before it took. Another kind of step, or a lower number, begins a new count.
  void show(std::string_view step, int number, int count);

 private:
  void print(std::string_view line) const noexcept;

  bool is_shown_;
  int first_ = 0;  // of the counted steps that were shown; 0: none yet
  double begin_s_ = 0;
};

}  // namespace penstock::cli

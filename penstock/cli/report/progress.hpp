// One line on a terminal that says what a long run is at.
#pragma once

#include <string_view>

#include "penstock/cli/core/session.hpp"

namespace penstock::cli {

/// Shows the present step on standard error where that is a terminal, on the first rank; takes it away on destruction.
class Progress {
 public:
  explicit Progress(const Session& session);
  ~Progress() { show(""); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Replaces the step shown; nothing for an empty text.
  void show(std::string_view step) const noexcept;

 private:
  bool is_shown_;
};

}  // namespace penstock::cli

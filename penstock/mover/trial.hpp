// Chooses among styles of machine code for one copy, by timing its uses. Private to the module.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <utility>
#include <vector>

#include "penstock/mover/code.hpp"

namespace penstock::mover {

/// Uses are timed and run the candidates in turns, some uses each: what a use leaves behind, such as stores that are
/// still under way and lines to be written back, falls to the next one, which is to be of the same candidate. The least
/// median wins. Uses may be those of several threads.
class Trial {
 public:
  /// The first candidate stays where no other is clearly faster. At least one, at most one of each style.
  explicit Trial(std::vector<StyledCode> candidates) : candidates_(std::move(candidates)) {}

  const std::vector<StyledCode>& candidates() const noexcept { return candidates_; }

  /// Does the copy; returns the candidate that won where this use was the last that was needed to tell, else null.
  const StyledCode* run(const std::byte* from, std::byte* to) noexcept;

 private:
  static constexpr std::size_t uses_in_a_turn = 5;
  static constexpr std::size_t uses_of_each = 7 * uses_in_a_turn;

  const StyledCode& choose() const noexcept;

  std::vector<StyledCode> candidates_;
  std::array<std::array<double, uses_of_each>, styles.size()> seconds_{};
  std::atomic<std::size_t> begun_ = 0;
  std::atomic<std::size_t> ended_ = 0;
};

}  // namespace penstock::mover

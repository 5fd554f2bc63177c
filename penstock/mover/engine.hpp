// What all copies of a mover share: its steps, the count of its uses, and its machine code once that is made and its
// style chosen. Private to the module.
#pragma once

#include <atomic>
#include <mutex>
#include <optional>

#include "penstock/mover/code.hpp"
#include "penstock/mover/program.hpp"
#include "penstock/mover/trial.hpp"

namespace penstock::mover {

class Mover::Engine {
 public:
  explicit Engine(Code code) : code_policy_(code) {}

  /// To be planned before `start`, and left alone from then on.
  Program program;

  /// Makes machine code if that is due at once and worth it.
  void start() noexcept;

  void run(const std::byte* from, std::byte* to) noexcept {
    if (const Move move = move_.load(std::memory_order_acquire)) {
      move(from, to);
    } else {
      run_steps(from, to);
    }
  }

  bool has_code() const noexcept {
    return chosen_.load(std::memory_order_acquire) != nullptr || trial_.load(std::memory_order_acquire) != nullptr;
  }
  bool is_trying() const noexcept {
    return chosen_.load(std::memory_order_acquire) == nullptr && trial_.load(std::memory_order_acquire) != nullptr;
  }
  /// What uses chose, or the rules where there was nothing to choose; null before.
  const StyledCode* chosen() const noexcept { return chosen_.load(std::memory_order_acquire); }

 private:
  /// So many uses tell that more will follow: making code takes the time of some tens of small moves.
  static constexpr int uses_of_the_hot = 8;

  void run_steps(const std::byte* from, std::byte* to) noexcept;
  void make() noexcept;
  void choose(const StyledCode& candidate) noexcept;

  Code code_policy_;
  std::atomic<Move> move_ = nullptr;
  std::atomic<int> uses_left_ = uses_of_the_hot;
  std::once_flag made_;
  /// Kept when it is over: other threads may still run what was not chosen.
  std::optional<Trial> candidates_;
  std::atomic<Trial*> trial_ = nullptr;
  std::atomic<const StyledCode*> chosen_ = nullptr;
};

}  // namespace penstock::mover

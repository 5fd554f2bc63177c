// What all copies of a mover share: its steps, the count of its uses, and its machine code once that is made. Private
// to the module.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

#include "penstock/mover/code.hpp"
#include "penstock/mover/program.hpp"

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

  bool has_code() const noexcept { return move_.load(std::memory_order_acquire) != nullptr; }

 private:
  /// So many uses tell that more will follow: making code takes the time of some tens of small moves.
  static constexpr int uses_of_the_hot = 8;

  void run_steps(const std::byte* from, std::byte* to) noexcept;
  void make() noexcept;

  Code code_policy_;
  std::atomic<Move> move_ = nullptr;
  std::atomic<int> uses_left_ = uses_of_the_hot;
  std::once_flag made_;
  CodePages code_;
};

}  // namespace penstock::mover

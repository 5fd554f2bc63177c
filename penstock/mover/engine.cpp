#include "penstock/mover/engine.hpp"

#include <utility>

namespace penstock::mover {

void Mover::Engine::start() noexcept {
  if (code_policy_ == Code::never || !is_worth_code(program)) {
    uses_left_ = 0;
  } else if (code_policy_ == Code::at_once) {
    make();
  }
}

void Mover::Engine::run_steps(const std::byte* from, std::byte* to) noexcept {
  if (Trial* const trial = trial_.load(std::memory_order_acquire)) {
    if (const StyledCode* const best = trial->run(from, to)) {
      choose(*best);
    }
    return;
  }
  // Lost counts of threads that run at once do no harm: a locked addition would cost more than a small move.
  const int left = uses_left_.load(std::memory_order_relaxed);
  if (left > 0) {
    uses_left_.store(left - 1, std::memory_order_relaxed);
    if (left == 1) {
      make();
    }
  }
  mover::run(program, from, to);
}

void Mover::Engine::make() noexcept {
  std::call_once(made_, [this] {
    std::vector<StyledCode> made = make_code(program, styles_for(program));
    if (made.empty()) {
      return;
    }
    candidates_.emplace(std::move(made));
    if (candidates_->candidates().size() == 1) {
      choose(candidates_->candidates().front());
    } else {
      trial_.store(&*candidates_, std::memory_order_release);
    }
  });
}

void Mover::Engine::choose(const StyledCode& candidate) noexcept {
  chosen_.store(&candidate, std::memory_order_release);
  move_.store(candidate.move(), std::memory_order_release);
}

}  // namespace penstock::mover

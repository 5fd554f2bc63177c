#include "penstock/mover/engine.hpp"

namespace penstock::mover {

void Mover::Engine::start() noexcept {
  if (code_policy_ == Code::never || !is_worth_code(program)) {
    uses_left_ = 0;
  } else if (code_policy_ == Code::at_once) {
    make();
  }
}

void Mover::Engine::run_steps(const std::byte* from, std::byte* to) noexcept {
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
    code_ = make_code(program);
    if (code_.begin() != nullptr) {
      move_.store(reinterpret_cast<Move>(const_cast<void*>(code_.begin())), std::memory_order_release);
    }
  });
}

}  // namespace penstock::mover

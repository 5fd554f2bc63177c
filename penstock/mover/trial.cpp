#include "penstock/mover/trial.hpp"

#include <algorithm>

#include "penstock/base/clock.hpp"

namespace penstock::mover {

const StyledCode* Trial::run(const std::byte* from, std::byte* to) noexcept {
  const std::size_t uses = uses_of_each * candidates_.size();
  // Read before it is counted, so that uses of other threads, while the last ones end, do not wrap the counter.
  const std::size_t use =
      begun_.load(std::memory_order_relaxed) < uses ? begun_.fetch_add(1, std::memory_order_relaxed) : uses;
  if (use >= uses) {
    candidates_.front().move()(from, to);
    return nullptr;
  }
  const std::size_t turn = use / uses_in_a_turn;
  const std::size_t which = turn % candidates_.size();
  const double begin_s = seconds();
  candidates_[which].move()(from, to);
  seconds_[which][turn / candidates_.size() * uses_in_a_turn + use % uses_in_a_turn] = seconds() - begin_s;
  // Acquired and released: who ends last sees the times of all.
  return ended_.fetch_add(1, std::memory_order_acq_rel) + 1 == uses ? &choose() : nullptr;
}

const StyledCode& Trial::choose() const noexcept {
  // What is gained by less than this is within the clock's and the machine's noise.
  constexpr double clearly = 0.98;
  std::size_t best = 0;
  double best_s = 0;
  for (std::size_t i = 0; i < candidates_.size(); ++i) {
    std::array<double, uses_of_each> times = seconds_[i];
    std::ranges::nth_element(times, times.begin() + uses_of_each / 2);
    const double median_s = times[uses_of_each / 2];
    if (i == 0 || median_s < (best == 0 ? clearly : 1.0) * best_s) {
      best = i;
      best_s = median_s;
    }
  }
  return candidates_[best];
}

}  // namespace penstock::mover

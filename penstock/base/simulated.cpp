#include "penstock/base/simulated.hpp"

#include <simgrid/actor.h>
#include <simgrid/engine.h>

#include <algorithm>

namespace penstock {

double seconds() noexcept {
  return simgrid_get_clock();
}

void Backoff::pause() {
  const double pause_s = std::max(2e-6, waited_s_ / 10);
  sg_actor_sleep_for(pause_s);
  waited_s_ += pause_s;
}

}  // namespace penstock

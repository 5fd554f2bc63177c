// The monotonic clock that every timing in Penstock reads.
#pragma once

#include <chrono>

#include "penstock/base/simulated.hpp"

#pragma GCC visibility push(default)

namespace penstock {

#if !PENSTOCK_IS_SIMULATED
/// Seconds since an arbitrary start, monotonic; about 25 ns a call.
inline double seconds() noexcept {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}
#endif

}  // namespace penstock

#pragma GCC visibility pop

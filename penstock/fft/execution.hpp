// The work that an Execution holds: a plan's transform, done step by step. Private to the module.
#pragma once

#include "penstock/fft/fft.hpp"

namespace penstock::fft {

struct Execution::Work {
  virtual ~Work() = default;
  /// Goes on; with `may_wait` to the end, else to where something has not arrived. Returns whether all is done.
  virtual bool step(bool may_wait) = 0;
};

}  // namespace penstock::fft

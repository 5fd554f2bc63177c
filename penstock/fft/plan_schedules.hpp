// All schedules of a plan, the memory that they need, and the plan's Decision. Private to the module.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "penstock/fft/fft.hpp"
#include "penstock/fft/problem.hpp"
#include "penstock/fft/schedule.hpp"
#include "penstock/gas/gas.hpp"

namespace penstock::fft {

struct Schedules {
  Schedule forward;
  Schedule backward;
  std::optional<Schedule> convolution;
  std::optional<Schedule> collocation;
  std::vector<std::uint64_t> region_bytes;  // by region: what any of them needs
  ScratchNeed scratch;                      ///< of a thread, by estimate
  MemoryNeed need;
};

/// Collective: of a plan for `problem`; throws Error on every rank where one has no memory.
Schedules make_schedules(const gas::Team& team, const Problem& problem);

/// What such a plan tells of itself.
Decision decide(const Problem& problem, const Schedules& schedules);

}  // namespace penstock::fft

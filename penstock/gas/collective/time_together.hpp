// The time of work that all ranks do at once. Included by gas.hpp.
#pragma once

#include <functional>

#include "penstock/base/base.hpp"
#include "penstock/gas/core/team.hpp"

#pragma GCC visibility push(default)

namespace penstock::gas {

/// Collective: runs `work` on every rank after a barrier, and returns the seconds of the slowest rank. Where `work`
/// throws on one rank, the team is revoked.
inline double time_together(const Team& team, const std::function<void()>& work) {
  return team.run_or_revoke([&] {
    team.barrier();
    const double begin_s = seconds();
    work();
    return team.largest(seconds() - begin_s);
  });
}

/// As above, with `work(thread)` on every thread of every rank's thread pool.
inline double time_together(const Team& team, ThreadPool& pool, const std::function<void(int)>& work) {
  return time_together(team, [&] { pool.run(work); });
}

}  // namespace penstock::gas

#pragma GCC visibility pop

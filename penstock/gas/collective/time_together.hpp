// How long work that all ranks do at once takes. Included by gas.hpp.
#pragma once

#include <functional>

#include "penstock/base/base.hpp"
#include "penstock/gas/core/team.hpp"

namespace penstock::gas {

/// Collective: runs `work` on every rank, from a barrier on; the seconds of the slowest rank. Where it throws on
/// one, the team is revoked.
inline double time_together(const Team& team, const std::function<void()>& work) {
  return team.run_or_revoke([&] {
    team.barrier();
    const double begin_s = seconds();
    work();
    return team.largest(seconds() - begin_s);
  });
}

/// The same on every thread of every rank's thread pool.
inline double time_together(const Team& team, ThreadPool& pool, const std::function<void(int)>& work) {
  return time_together(team, [&] { pool.run(work); });
}

}  // namespace penstock::gas

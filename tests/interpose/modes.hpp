// MPI's collectives in the two modes that the library serves: at once, and started.
#pragma once

#include <gtest/gtest.h>
#include <mpi.h>

#include <cstdint>

#include "buffer.hpp"

namespace penstock::interpose {

enum class Mode : unsigned char { at_once, started };

constexpr int collective_cases = 15;

/// Calls `use` with each case in each mode.
template <class Use>
void for_each_mode_and_case(std::uint64_t seed, Use use) {
  for (const Mode mode : {Mode::at_once, Mode::started}) {
    SCOPED_TRACE(mode == Mode::at_once ? "at once" : "started");
    for_each_case(collective_cases, seed, [&](const Case& of) { use(of, mode); });
  }
}

/// Calls the one of a collective's two functions that `mode` names, and waits for it; returns the first error. All
/// ranks wait for one another: MPICH 4.0.2 mixes up the messages of neighbours that are calls ahead.
template <class AtOnce, class Started, class... Arguments>
int run(Mode mode, AtOnce* at_once, Started* started, const Arguments&... arguments) {
  if (mode == Mode::at_once) {
    return at_once(arguments...);
  }
  MPI_Request request = MPI_REQUEST_NULL;
  const int result = started(arguments..., &request);
  return result == MPI_SUCCESS ? MPI_Wait(&request, MPI_STATUS_IGNORE) : result;
}

}  // namespace penstock::interpose

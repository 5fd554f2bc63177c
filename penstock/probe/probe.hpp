// What this machine reaches: in a fraction of a second beside the run that wants to know, or thoroughly for its machine
// file.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "penstock/gas/gas.hpp"
#include "penstock/probe/calibration.hpp"
#include "penstock/probe/device_rates.hpp"
#include "penstock/probe/message_costs.hpp"
#include "penstock/probe/samples.hpp"
#include "penstock/probe/signal_barrier.hpp"

namespace penstock::probe {

/// Collective: the bandwidth of memory when all ranks, each with `threads` threads, read and write at once: bytes read
/// plus bytes written per second, of all ranks together, the best of several passes in about 0.1 s. Each rank copies
/// one half of `memory` to the other, with stores that bypass the cache; what was in it is lost. 0 where no rank has
/// memory enough to copy.
double memory_bandwidth(const gas::Team& team, int threads, std::span<std::byte> memory);

/// Collective: the rate of our complex 1-D transforms in cache when all ranks, each with `threads` threads, run at
/// once: operations per second by the convention of 5 n log2 n, of all ranks together, for rows of the three lengths in
/// the proportions in which a 3-D transform has them, in tiles as plans make them for the caches of `node`, this rank's
/// own. Takes about 0.2 s.
template <class Real>
double fft_rate(const gas::Team& team, int threads, const machine::Node& node,
                const std::array<std::int64_t, 3>& lengths);

}  // namespace penstock::probe

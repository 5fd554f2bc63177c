// Contenders timed in turn, so that what disturbs the machine disturbs all of them.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "penstock/lab/pack/pack_contenders.hpp"

namespace penstock::lab {

/// The places, as offsets into the arenas, that uses take in turn.
struct PackPlaces {
  std::vector<std::int64_t> array{0};
  std::vector<std::int64_t> packed{0};
};

/// Seconds of one use of ours, MPI, the hand-written loop and memcpy, a number for each round.
using PackSamples = std::array<std::vector<double>, 4>;

/// Appends up to `rounds` rounds, at least one, fewer where `max_s` seconds are over. In each round each contender
/// runs a batch of uses that is long beside the clock.
void run_rounds(const Contenders& contenders, const PackPlaces& places, std::byte* array, std::byte* packed, int rounds,
                double max_s, PackSamples& samples);

}  // namespace penstock::lab

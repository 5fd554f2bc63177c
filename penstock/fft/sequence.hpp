// The order in which directions are transformed. Below a plan's face directions are numbered by it: 0 is the first.
#pragma once

#include <array>

#include "penstock/fft/options.hpp"

namespace penstock::fft {

/// The options with their directions numbered in the order in which they are transformed, but for the parts, which are
/// left out.
Options in_sequence(const Options& options);

/// A part with its directions numbered in the order in which they are transformed, and the other way round.
Distribution in_sequence(const Distribution& part, const std::array<int, 3>& sequence);
Distribution from_sequence(const Distribution& part, const std::array<int, 3>& sequence);

}  // namespace penstock::fft

// What the page of `penstock fft --report` shows beside the results: the plan and the times of each rank.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "penstock/fft/fft.hpp"
#include "penstock/gas/gas.hpp"

namespace penstock::cli {

struct FftReport;

/// Collective: the boxes of all ranks, from stage to stage; what each sends to each, where there are at most 128 ranks;
/// the times of each in the best repetition; each stage's operations and bytes; and what twice of each resource gains.
/// `output` is this rank's part of the spectrum.
nlohmann::ordered_json fft_details(const gas::Team& team, const fft::Distribution& output, const FftReport& report);

}  // namespace penstock::cli

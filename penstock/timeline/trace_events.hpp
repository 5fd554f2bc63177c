// Writes the Trace Event Format of Chrome, which Perfetto reads. Private to the module.
#pragma once

#include <string_view>
#include <vector>

#include "penstock/timeline/records.hpp"
#include "penstock/timeline/timeline.hpp"

namespace penstock::timeline {

/// The records of all ranks, in order of rank, as JSON; see Timeline::collect.
Collected write_trace_events(const std::vector<Record>& records, const Heading& heading, std::string_view step);

}  // namespace penstock::timeline

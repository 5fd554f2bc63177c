// What messages between two ranks cost in the terms of LogGP, by the schedules that transforms exchange their data
// with.
#pragma once

#include <cstddef>
#include <vector>

#include "penstock/gas/gas.hpp"
#include "penstock/probe/calibration.hpp"

namespace penstock::probe {

/// One way, of so many bytes: from the call that sends until the peer has them.
struct MessageCosts {
  std::size_t bytes = 0;
  Figure time_s;
};

struct TransportCosts {
  std::vector<MessageCosts> times;  ///< L and G: half of there and back, by length
  Figure send_overhead_s;           ///< o_s: the call that sends a short message
  Figure receive_overhead_s;        ///< o_r: the call that waits for one which is there
  Figure gap_s;                     ///< g: as gas::measure_gap has it
  double progress = 0;              ///< as gas::measure_progress has it
};

/// Collective over two ranks or more, of which the first two exchange messages and the others wait. Where memory is
/// shared a message is a copy into the peer's memory and a signal. Results on rank 0.
TransportCosts measure_message_costs(const gas::Team& team, const CalibrationOptions& options);

}  // namespace penstock::probe

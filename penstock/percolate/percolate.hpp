// Split-phase movement between memory levels, after HTMT's percolation: data and the function that will use them come
// together nearer to the processor ahead of time, so that the processor does not wait. In the order of reading:
//
// - levels.hpp: the levels, how much each holds, and the slots that they are divided into
// - transfer.hpp: bytes on their way between storage and memory, and the engines that move them
// - schedule.hpp: parcels, and the loop that walks a program of them
// - progress.hpp: how far a program is
// - storage_rate.hpp: how fast storage is
// - trace.hpp: what waited for what, as a picture
#pragma once

#include "penstock/percolate/levels.hpp"
#include "penstock/percolate/progress.hpp"
#include "penstock/percolate/schedule.hpp"
#include "penstock/percolate/storage_rate.hpp"
#include "penstock/percolate/trace.hpp"
#include "penstock/percolate/transfer.hpp"

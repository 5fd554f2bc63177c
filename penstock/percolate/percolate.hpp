// Split-phase movement between memory levels, after HTMT's percolation: data are moved nearer to the processor,
// together with the function that will use them, before the processor needs them. The headers in the order of reading:
//
// - levels.hpp: the levels, how much each holds, and the slots that they are divided into
// - transfer.hpp: bytes on their way between storage and memory, and the engines that move them
// - schedule.hpp: parcels, and the loop that walks a program of them
// - progress.hpp: the progress of a program
// - storage_rate.hpp: how fast storage is
#pragma once

#include "penstock/percolate/levels.hpp"
#include "penstock/percolate/progress.hpp"
#include "penstock/percolate/schedule.hpp"
#include "penstock/percolate/storage_rate.hpp"
#include "penstock/percolate/transfer.hpp"

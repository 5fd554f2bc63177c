// The vocabulary of plans, shared by the modules that make, predict and measure plans:
//
// - box.hpp: ranges, boxes and the grid of ranks that cuts them
// - tuning.hpp: how the exchanges of a transform are run
// - tiles.hpp: the width of tiles, the number of their rows and the pitch of these
#pragma once

#include "penstock/shape/box.hpp"
#include "penstock/shape/tiles.hpp"
#include "penstock/shape/tuning.hpp"

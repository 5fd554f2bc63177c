// The vocabulary of plans, for what makes them, predicts them and measures them:
//
// - box.hpp: ranges, boxes and the grid of ranks that cuts them
// - tuning.hpp: how the exchanges of a transform are run
// - tiles.hpp: how wide tiles are, and how their rows lie
#pragma once

#include "penstock/shape/box.hpp"
#include "penstock/shape/tiles.hpp"
#include "penstock/shape/tuning.hpp"

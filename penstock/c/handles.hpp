// What the handles of the C interface are.
#pragma once

#include "penstock/c/penstock.h"
#include "penstock/gas/gas.hpp"
#include "penstock/mover/mover.hpp"

struct penstock_team {
  penstock::gas::Team team;
};

struct penstock_segment {
  penstock::gas::Segment segment;
};

struct penstock_mover {
  penstock::mover::Mover mover;
};

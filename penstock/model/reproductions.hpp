// The subjects of reproduce(), a file for each.
#pragma once

#include "penstock/model/reproduction.hpp"

namespace penstock::model {

Reproduction reproduce_ping_pong();
Reproduction reproduce_scaling();
Reproduction reproduce_bluegene();
Reproduction reproduce_exascale();
Reproduction reproduce_htmt();

}  // namespace penstock::model

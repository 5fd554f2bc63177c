// The subjects of reproduce(). Private to the module.
#pragma once

#include "penstock/lab/reproductions/reproductions.hpp"

namespace penstock::lab {

Reproduction reproduce_ping_pong();
Reproduction reproduce_scaling();
Reproduction reproduce_bluegene();
Reproduction reproduce_exascale();
Reproduction reproduce_digpufft();
Reproduction reproduce_htmt();

}  // namespace penstock::lab

// The hand-written loops, compiled for the base of the architecture.
#define PENSTOCK_HAND_SET base
#include "penstock/lab/pack/pack_hand_bodies.hpp"

// The hand-written loops, compiled for the base of the architecture.
#define PENSTOCK_HAND_SET base
#include "penstock/measure/pack_hand_bodies.hpp"

// The hand-written loops, compiled for x86-64-v4 (AVX-512).
#define PENSTOCK_HAND_SET v4
#include "penstock/lab/pack/pack_hand_bodies.hpp"

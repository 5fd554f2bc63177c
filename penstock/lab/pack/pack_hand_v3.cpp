// The hand-written loops, compiled for x86-64-v3 (AVX2).
#define PENSTOCK_HAND_SET v3
#include "penstock/lab/pack/pack_hand_bodies.hpp"

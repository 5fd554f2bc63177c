// Distributed 3-D fast Fourier transforms. In the order of reading:
//
// - kinds.hpp: what is transformed into what
// - options.hpp: how fields lie in the memory of ranks, and what a plan is made from
// - plan.hpp: the transforms
// - decision.hpp: what planning decided, and where the time of a run went
// - wisdom.hpp: what planning by measuring has learned, kept between runs
//
// Transforms of fields in files, larger than memory, have a face of their own: files/files.hpp.
#pragma once

#include "penstock/fft/decision.hpp"
#include "penstock/fft/kinds.hpp"
#include "penstock/fft/options.hpp"
#include "penstock/fft/plan.hpp"
#include "penstock/fft/wisdom.hpp"

// Distributed 3-D fast Fourier transforms. In the order of reading:
//
// - kinds.hpp: the types of transforms
// - options.hpp: distributions of fields over ranks, and the options of plans
// - plan.hpp: plans, which do the transforms
// - device_plan.hpp: plans whose transforms run on devices
// - halo.hpp: exchanges of ghost cells on the same distributions
// - decision.hpp: the decisions of planning, and the times of a run by stage
// - wisdom.hpp: what planning by measuring has learned, to be kept between runs
//
// Transforms of fields in files, larger than memory, have a face of their own: files/files.hpp.
#pragma once

#include "penstock/fft/decision.hpp"
#include "penstock/fft/device_plan.hpp"
#include "penstock/fft/halo.hpp"
#include "penstock/fft/kinds.hpp"
#include "penstock/fft/options.hpp"
#include "penstock/fft/plan.hpp"
#include "penstock/fft/wisdom.hpp"

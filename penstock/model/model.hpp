// Pure functions: a machine and a problem in, times and limits out.
#pragma once

#include "penstock/model/exascale.hpp"
#include "penstock/model/fft_exchange.hpp"
#include "penstock/model/fft_limit.hpp"
#include "penstock/model/fft_time.hpp"
#include "penstock/model/gemm.hpp"
#include "penstock/model/gemm_tiling.hpp"
#include "penstock/model/htmt.hpp"
#include "penstock/model/node_rates.hpp"
#include "penstock/model/ping_pong.hpp"
#include "penstock/model/planned_fft.hpp"
#include "penstock/model/projection.hpp"
#include "penstock/model/resource.hpp"
#include "penstock/model/scaling.hpp"
#include "penstock/model/storage_pass.hpp"
#include "penstock/model/topology.hpp"
#include "penstock/model/transport.hpp"

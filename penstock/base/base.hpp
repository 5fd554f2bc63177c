// What every module stands on: errors, files, checksums, memory in huge pages, clocks, units, waiting, and the thread
// pool of a rank.
#pragma once

#include "penstock/base/checksum.hpp"
#include "penstock/base/clock.hpp"
#include "penstock/base/config.hpp"
#include "penstock/base/draft.hpp"
#include "penstock/base/error.hpp"
#include "penstock/base/file.hpp"
#include "penstock/base/memory.hpp"
#include "penstock/base/numbers.hpp"
#include "penstock/base/processor_set.hpp"
#include "penstock/base/simulated.hpp"
#include "penstock/base/system.hpp"
#include "penstock/base/thread_pool.hpp"
#include "penstock/base/units.hpp"
#include "penstock/base/wait.hpp"

// The global address space, for any program that has an MPI_Comm, or threads, or neither. In the order of reading:
//
// - team.hpp: ranks, teams and the world
// - segment.hpp: memory that peers read and write; puts, gets, signals, atomic operations
// - event.hpp: learning that what was begun is done
// - collectives.hpp: barrier, broadcast, reduce, gather, exchange, begun and waited for
// - global_array.hpp: one array over the memory of all ranks
// - active_messages.hpp: handlers that ranks call on one another
// - exchange.hpp: schedules of messages, repeated in rounds
// - method.hpp: other ways to carry them, to be compared with
// - network_rates.hpp: what messages between nodes reach
// - reach.hpp: the transports, by name
// - time_together.hpp: how long work of all ranks takes
#pragma once

#include "penstock/gas/array/global_array.hpp"
#include "penstock/gas/collective/collectives.hpp"
#include "penstock/gas/collective/time_together.hpp"
#include "penstock/gas/core/active_messages.hpp"
#include "penstock/gas/core/event.hpp"
#include "penstock/gas/core/reach.hpp"
#include "penstock/gas/core/segment.hpp"
#include "penstock/gas/core/team.hpp"
#include "penstock/gas/exchange/exchange.hpp"
#include "penstock/gas/exchange/method.hpp"
#include "penstock/gas/exchange/network_rates.hpp"

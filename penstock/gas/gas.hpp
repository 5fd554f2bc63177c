// The global address space, for any program that has an MPI_Comm, or threads, or neither. In the order of reading:
//
// - team.hpp: ranks, teams and the world
// - segment.hpp: memory that peers read and write; puts, gets, signals, atomic operations
// - event.hpp: learning that what was begun is done
// - collectives.hpp: barrier, broadcast, reduce, gather, exchange, begun and waited for
// - global_array.hpp: one array over the memory of all ranks
// - active_messages.hpp: handlers that ranks call on one another
// - exchange.hpp: schedules of messages, repeated in rounds
// - network_figures.hpp: what messages between nodes reach
// - reach.hpp: the transports, by name
// - time_together.hpp: how long work of all ranks takes
#pragma once

#include "penstock/gas/active_messages.hpp"
#include "penstock/gas/collectives.hpp"
#include "penstock/gas/event.hpp"
#include "penstock/gas/exchange.hpp"
#include "penstock/gas/global_array.hpp"
#include "penstock/gas/network_figures.hpp"
#include "penstock/gas/reach.hpp"
#include "penstock/gas/segment.hpp"
#include "penstock/gas/team.hpp"
#include "penstock/gas/time_together.hpp"

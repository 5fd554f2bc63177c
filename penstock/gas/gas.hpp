// The global address space, over an MPI communicator, over threads, or on one process alone. In the order of reading:
//
// - team.hpp: ranks, teams and the world
// - segment.hpp: memory that peers read and write; puts, gets, signals, atomic operations
// - event.hpp: events, by which a program tests and waits for what it has begun
// - collectives.hpp: collective calls, split-phase or blocking: barrier, broadcast, reduce, gather, exchange
// - global_array.hpp: one array over the memory of all ranks
// - active_messages.hpp: handlers that ranks call on one another
// - exchange.hpp: exchanges, which repeat a fixed list of messages in rounds
// - method.hpp: other implementations of an exchange, for comparison
// - network_rates.hpp: latency and bandwidth of messages between nodes, measured
// - reach.hpp: the transports and their names
// - time_together.hpp: the time of work that all ranks do, by the slowest rank
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

// A described machine as SimGrid's hosts and links.
#pragma once

#include <simgrid/s4u.hpp>
#include <vector>

#include "penstock/machine/machine.hpp"

namespace penstock::simulate {

/// Throws Error where `nodes` nodes of `machine` are none, more than it has, or not joined by a mesh or torus.
void check_platform(const machine::Machine& machine, std::int64_t nodes);

/// Makes `nodes` nodes of `machine` with their network, a mesh or torus, routed by its dimensions in order; messages
/// have the costs of `transport`. Returns the nodes, the first dimension fastest. Once, before the simulation begins,
/// for what check_platform takes.
std::vector<simgrid::s4u::Host*> make_platform(const machine::Machine& machine, const machine::Transport& transport,
                                               std::int64_t nodes);

}  // namespace penstock::simulate

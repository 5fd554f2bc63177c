// A described machine as SimGrid's hosts and links.
#pragma once

#include <cstdint>
#include <simgrid/s4u.hpp>
#include <vector>

#include "penstock/machine/machine.hpp"

namespace penstock::simulate {

/// Throws Error where `nodes` nodes of `machine` are none, more than it has, or not joined by a mesh or torus.
void check_platform(const machine::Machine& machine, std::int64_t nodes);

/// What messages under way at once do to each other. Sharing costs the simulator the most of its time, and with a
/// thousand ranks nearly all of it.
enum class Links : std::uint8_t {
  shared,  ///< those that cross a link share its bandwidth
  none,    ///< nothing: each takes the transport's latency, however long it is
};

/// Makes `nodes` nodes of `machine` with their network, a mesh or torus, routed by its dimensions in order; messages
/// have the costs of `transport`. Returns the nodes, the first dimension fastest. Once, before the simulation begins,
/// for what check_platform takes.
std::vector<simgrid::s4u::Host*> make_platform(const machine::Machine& machine, const machine::Transport& transport,
                                               std::int64_t nodes, Links sharing);

}  // namespace penstock::simulate

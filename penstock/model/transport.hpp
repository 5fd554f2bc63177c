// The network that a run of a model needs, and the transport that it names.
#pragma once

#include <cstdint>
#include <string>

#include "penstock/machine/machine.hpp"

#pragma GCC visibility push(default)

namespace penstock::model {

/// Throws Error where there are several nodes, and the machine has no network between them.
void require_network(const machine::Machine& machine, std::int64_t nodes);

/// The machine's transport of that name. For no name its first one or, where the machine describes none, a transport
/// that costs nothing and always progresses. Throws Error for a name that the machine does not have.
machine::Transport find_transport(const machine::Machine& machine, const std::string& name);

}  // namespace penstock::model

#pragma GCC visibility pop

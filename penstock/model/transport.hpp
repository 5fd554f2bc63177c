// The transport that a model's run means.
#pragma once

#include <string>

#include "penstock/machine/machine.hpp"

namespace penstock::model {

/// The machine's of that name; for no name its first, or where it describes none, one that costs nothing and always
/// progresses. Throws Error for a name that the machine has not.
machine::Transport find_transport(const machine::Machine& machine, const std::string& name);

}  // namespace penstock::model

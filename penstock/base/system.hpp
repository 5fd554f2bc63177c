// The running system, which processes and containers share. Included by base.hpp.
#pragma once

#include <string>

namespace penstock {

/// Names the running system (its start): the same to all processes that share its processors and memory, in containers
/// as well. The host's name where the system does not tell.
std::string system_identity();

}  // namespace penstock

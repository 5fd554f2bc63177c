// The running operating system, which processes and containers share. Included by base.hpp.
#pragma once

#include <string>

#pragma GCC visibility push(default)

namespace penstock {

/// The host's name, as far as 255 characters.
std::string host_name();

/// The identifier of the operating system's boot: the same for all processes that share its processors and memory, in
/// containers as well. The host's name where the system gives no identifier.
std::string system_identity();

}  // namespace penstock

#pragma GCC visibility pop

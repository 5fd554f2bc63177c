// What the command says where it is started without arguments.
#pragma once

#include <string>

namespace penstock::cli {

/// What Penstock is, commands to begin with that fit this machine and this build, and where the help is. `command` is
/// how the user called it.
std::string first_steps(const std::string& command);

}  // namespace penstock::cli

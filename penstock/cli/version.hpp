// What `penstock --version` says of this build.
#pragma once

#include <string>

namespace penstock::cli {

/// The version and what is built in, a line each.
std::string version_text();

}  // namespace penstock::cli

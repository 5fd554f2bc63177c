// What `penstock --version` says of this build.
#pragma once

#include <string>

namespace penstock::cli {

/// The MPI library that is linked, and its version; or that there is none.
std::string mpi_text();

/// The version and what is built in, a line each.
std::string version_text();

}  // namespace penstock::cli

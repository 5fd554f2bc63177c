#include "penstock/interpose/settings.hpp"

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace penstock::interpose {
namespace {

std::string_view variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

bool are_equal_and_set(const char* one, const char* other) {
  return !variable(one).empty() && variable(one) == variable(other);
}

}  // namespace

Mode mode_from_environment() {
  const std::string_view value = variable("PENSTOCK_MPI");
  if (value == "off") {
    return Mode::off;
  }
  if (value == "stats") {
    return Mode::stats;
  }
  if (!value.empty() && value != "on") {
    std::fprintf(stderr, "penstock: PENSTOCK_MPI is '%s'; it may be off, on or stats; going on with on\n",
                 value.data());
  }
  return Mode::on;
}

bool is_job_on_one_node() {
  // Open MPI's mpirun sets the first pair, MPICH's hydra the second.
  return are_equal_and_set("OMPI_COMM_WORLD_LOCAL_SIZE", "OMPI_COMM_WORLD_SIZE") ||
         are_equal_and_set("MPI_LOCALNRANKS", "PMI_SIZE");
}

}  // namespace penstock::interpose

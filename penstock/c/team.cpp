// Teams, and the errors of all calls.
#include <utility>

#include "penstock/base/base.hpp"
#include "penstock/base/config.hpp"
#include "penstock/c/handles.hpp"
#include "penstock/c/status.hpp"

#if PENSTOCK_HAS_MPI
#include <mpi.h>
#endif

namespace penstock::c {
namespace {

thread_local std::string last_error;

}  // namespace

void keep_error(const char* sentence) noexcept {
  try {
    last_error = sentence;
  } catch (...) {  // no memory for the sentence either
    last_error.clear();
  }
}

}  // namespace penstock::c

using penstock::c::status_of;

extern "C" {

const char* penstock_last_error() {
  return penstock::c::last_error.c_str();
}

const char* penstock_version() {
  return PENSTOCK_VERSION;
}

penstock_status penstock_team_alone(penstock_team** team) {
  return status_of([&] { *team = new penstock_team{penstock::gas::world_alone()}; });
}

penstock_status penstock_team_of_fortran([[maybe_unused]] int communicator, [[maybe_unused]] penstock_team** team) {
  return status_of([&] {
#if PENSTOCK_HAS_MPI
    *team = new penstock_team{penstock::gas::world_of(MPI_Comm_f2c(communicator))};
#else
    throw penstock::Error("this build has no MPI: use penstock_team_alone");
#endif
  });
}

penstock_status penstock_team_destroy(penstock_team* team) {
  return status_of([&] { delete team; });
}

int penstock_team_rank(const penstock_team* team) {
  return team->team.rank();
}

int penstock_team_size(const penstock_team* team) {
  return team->team.size();
}

penstock_status penstock_team_barrier(penstock_team* team) {
  return status_of([&] { team->team.barrier(); });
}

penstock_status penstock_team_agree(penstock_team* team, const char* failure) {
  return status_of([&] { team->team.agree(failure == nullptr ? "" : failure); });
}
}

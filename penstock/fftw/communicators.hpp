// The teams of MPI's communicators and the plans of each.
#pragma once

#include <mpi.h>

#include <memory>

#include "penstock/fftw/plan.hpp"

namespace penstock::fftw {

/// Collective over the communicator: a plan for the request, shared with equal ones. Throws Error on every rank.
std::shared_ptr<SharedPlan> plan_over(MPI_Comm communicator, const Request& request);

/// A plan for this process alone, shared with equal ones. Throws Error as fft::Plan does.
std::shared_ptr<SharedPlan> plan_alone(const Request& request);

/// Whether this process speaks for all: it has rank 0 of MPI_COMM_WORLD, or MPI is not under way.
bool is_spokesman() noexcept;

/// Ends the program, and where it has used MPI all of its ranks.
[[noreturn]] void end_all_ranks() noexcept;

}  // namespace penstock::fftw

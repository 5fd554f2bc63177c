// The plans that programs hold in place of FFTW's, and the plans of ours that these share.
#pragma once

#include <memory>
#include <string>

#include "penstock/fftw/request.hpp"
#include "penstock/gas/gas.hpp"

namespace penstock::fftw {

/// A plan of the library's, for transforms there and back. Thread-safe: over ranks one transform at a time; alone as
/// many as threads call it.
class SharedPlan {
 public:
  virtual ~SharedPlan() = default;
  /// Transforms as the request says that the plan was made for, or the one in the other direction. Throws Error as
  /// fft::Plan does.
  virtual void run(const Request& request, void* in, void* out) = 0;
};

/// Collective over the team: a plan for the request. Throws Error as fft::Plan does.
std::shared_ptr<SharedPlan> make_plan(const gas::Team& team, const Request& request);

/// What a program has as fftw_plan or fftwf_plan.
struct ServedPlan {
  Request request;
  std::shared_ptr<SharedPlan> plan;  ///< nullptr once MPI has ended
  bool is_over_ranks = false;
  void* in = nullptr;  ///< the arrays of fftw_execute
  void* out = nullptr;

  /// Transforms; an error ends the program, or all of its ranks, with its sentence.
  void run(void* from, void* to) const noexcept;
};

/// Gives a plan to the program, as a pointer of FFTW's type.
void* hand_out(std::unique_ptr<ServedPlan> plan);
/// The plan of ours that the pointer is; nullptr where it is FFTW's.
ServedPlan* find(const void* plan) noexcept;
/// Takes a plan of ours back; false where the pointer is FFTW's.
bool take_back(const void* plan) noexcept;
/// Ends what plans over ranks are made of, before MPI ends: the program may still destroy them.
void end_plans_over_ranks() noexcept;

}  // namespace penstock::fftw

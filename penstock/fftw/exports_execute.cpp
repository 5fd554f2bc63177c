// What FFTW does with plans: to execute them, to tell of them, to destroy them. Those of ours are known by their
// addresses; FFTW has all others.
#include <fftw3-mpi.h>

#include <cstdlib>
#include <cstring>
#include <string>

#include "penstock/fftw/plan.hpp"
#include "penstock/fftw/planners.hpp"
#include "penstock/fftw/real.hpp"

namespace {

using penstock::fftw::find;
using penstock::fftw::ServedPlan;

/// One line for people.
std::string description(const ServedPlan& plan) {
  return "(penstock " + plan.request.key() + ")\n";
}

}  // namespace

// NOLINTBEGIN(bugprone-macro-parentheses): types and names
#define PENSTOCK_EXECUTE(NAME, PLAN, IN, OUT)                     \
  void NAME(PLAN p, IN* in, OUT* out) {                           \
    if (const ServedPlan* const plan = find(p)) {                 \
      plan->run(in, out);                                         \
    } else {                                                      \
      penstock::fftw::pass_on<decltype(NAME)>(#NAME, p, in, out); \
    }                                                             \
  }

// Fortran's: FFTW's own call one another by name, but for these.
#define PENSTOCK_EXECUTE_FORTRAN(NAME, PLAN, IN, OUT)             \
  void NAME(PLAN* p, IN* in, OUT* out) {                          \
    if (const ServedPlan* const plan = find(*p)) {                \
      plan->run(in, out);                                         \
    } else {                                                      \
      penstock::fftw::pass_on<decltype(NAME)>(#NAME, p, in, out); \
    }                                                             \
  }

#define PENSTOCK_FFTW_EXECUTE(P, F, REAL, COMPLEX)                                                                    \
  void P##_execute(const P##_plan p) {                                                                                \
    if (const ServedPlan* const plan = find(p)) {                                                                     \
      plan->run(plan->in, plan->out);                                                                                 \
    } else {                                                                                                          \
      penstock::fftw::pass_on<decltype(P##_execute)>(#P "_execute", p);                                               \
    }                                                                                                                 \
  }                                                                                                                   \
  PENSTOCK_EXECUTE(P##_execute_dft, const P##_plan, COMPLEX, COMPLEX)                                                 \
  PENSTOCK_EXECUTE(P##_execute_dft_r2c, const P##_plan, REAL, COMPLEX)                                                \
  PENSTOCK_EXECUTE(P##_execute_dft_c2r, const P##_plan, COMPLEX, REAL)                                                \
  PENSTOCK_EXECUTE(P##_execute_r2r, const P##_plan, REAL, REAL)                                                       \
  PENSTOCK_EXECUTE(P##_mpi_execute_dft, P##_plan, COMPLEX, COMPLEX)                                                   \
  PENSTOCK_EXECUTE(P##_mpi_execute_dft_r2c, P##_plan, REAL, COMPLEX)                                                  \
  PENSTOCK_EXECUTE(P##_mpi_execute_dft_c2r, P##_plan, COMPLEX, REAL)                                                  \
  PENSTOCK_EXECUTE(P##_mpi_execute_r2r, P##_plan, REAL, REAL)                                                         \
  void F##_execute_(P##_plan* p) {                                                                                    \
    if (const ServedPlan* const plan = find(*p)) {                                                                    \
      plan->run(plan->in, plan->out);                                                                                 \
    } else {                                                                                                          \
      penstock::fftw::pass_on<decltype(F##_execute_)>(#F "_execute_", p);                                             \
    }                                                                                                                 \
  }                                                                                                                   \
  PENSTOCK_EXECUTE_FORTRAN(F##_execute_dft_, P##_plan, COMPLEX, COMPLEX)                                              \
  PENSTOCK_EXECUTE_FORTRAN(F##_execute_dft_r2c_, P##_plan, REAL, COMPLEX)                                             \
  PENSTOCK_EXECUTE_FORTRAN(F##_execute_dft_c2r_, P##_plan, COMPLEX, REAL)                                             \
  PENSTOCK_EXECUTE_FORTRAN(F##_execute_r2r_, P##_plan, REAL, REAL)                                                    \
  void P##_destroy_plan(P##_plan p) {                                                                                 \
    if (!penstock::fftw::take_back(p)) {                                                                              \
      penstock::fftw::pass_on<decltype(P##_destroy_plan)>(#P "_destroy_plan", p);                                     \
    }                                                                                                                 \
  }                                                                                                                   \
  void P##_flops(const P##_plan p, double* add, double* mul, double* fma) {                                           \
    if (const ServedPlan* const plan = find(p)) {                                                                     \
      *add = plan->request.operations();                                                                              \
      *mul = *fma = 0;                                                                                                \
    } else {                                                                                                          \
      penstock::fftw::pass_on<decltype(P##_flops)>(#P "_flops", p, add, mul, fma);                                    \
    }                                                                                                                 \
  }                                                                                                                   \
  double P##_estimate_cost(const P##_plan p) {                                                                        \
    const ServedPlan* const plan = find(p);                                                                           \
    return plan != nullptr ? plan->request.operations()                                                               \
                           : penstock::fftw::pass_on<decltype(P##_estimate_cost)>(#P "_estimate_cost", p);            \
  }                                                                                                                   \
  double P##_cost(const P##_plan p) {                                                                                 \
    const ServedPlan* const plan = find(p);                                                                           \
    return plan != nullptr ? plan->request.operations() : penstock::fftw::pass_on<decltype(P##_cost)>(#P "_cost", p); \
  }                                                                                                                   \
  void P##_fprint_plan(const P##_plan p, FILE* file) {                                                                \
    if (const ServedPlan* const plan = find(p)) {                                                                     \
      std::fputs(description(*plan).c_str(), file);                                                                   \
    } else {                                                                                                          \
      penstock::fftw::pass_on<decltype(P##_fprint_plan)>(#P "_fprint_plan", p, file);                                 \
    }                                                                                                                 \
  }                                                                                                                   \
  void P##_print_plan(const P##_plan p) {                                                                             \
    P##_fprint_plan(p, stdout);                                                                                       \
  }                                                                                                                   \
  char* P##_sprint_plan(const P##_plan p) {                                                                           \
    const ServedPlan* const plan = find(p);                                                                           \
    if (plan == nullptr) {                                                                                            \
      return penstock::fftw::pass_on<decltype(P##_sprint_plan)>(#P "_sprint_plan", p);                                \
    }                                                                                                                 \
    return strdup(description(*plan).c_str()); /* the caller frees it */                                              \
  }                                                                                                                   \
  void P##_plan_with_nthreads(int threads) {                                                                          \
    penstock::fftw::set_threads(sizeof(REAL), threads);                                                               \
    penstock::fftw::pass_on<decltype(P##_plan_with_nthreads)>(#P "_plan_with_nthreads", threads);                     \
  }                                                                                                                   \
  void P##_cleanup_threads() {                                                                                        \
    penstock::fftw::set_threads(sizeof(REAL), 1);                                                                     \
    penstock::fftw::pass_on<decltype(P##_cleanup_threads)>(#P "_cleanup_threads");                                    \
  }
// NOLINTEND(bugprone-macro-parentheses)

extern "C" {
// Declared by no header: names of FFTW's for Fortran.
void dfftw_execute_(fftw_plan*);
void dfftw_execute_dft_(fftw_plan*, fftw_complex*, fftw_complex*);
void dfftw_execute_dft_r2c_(fftw_plan*, double*, fftw_complex*);
void dfftw_execute_dft_c2r_(fftw_plan*, fftw_complex*, double*);
void dfftw_execute_r2r_(fftw_plan*, double*, double*);
void sfftw_execute_(fftwf_plan*);
void sfftw_execute_dft_(fftwf_plan*, fftwf_complex*, fftwf_complex*);
void sfftw_execute_dft_r2c_(fftwf_plan*, float*, fftwf_complex*);
void sfftw_execute_dft_c2r_(fftwf_plan*, fftwf_complex*, float*);
void sfftw_execute_r2r_(fftwf_plan*, float*, float*);

PENSTOCK_FFTW_EXECUTE(fftw, dfftw, double, fftw_complex)
PENSTOCK_FFTW_EXECUTE(fftwf, sfftw, float, fftwf_complex)
}

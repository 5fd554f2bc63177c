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
#define PENSTOCK_EXECUTE(NAME, PLAN, IN, OUT)                   \
  void NAME(PLAN p, IN* in, OUT* out) {                         \
    if (const ServedPlan* const plan = find(p)) {               \
      plan->run(in, out);                                       \
    } else {                                                    \
      penstock::fftw::pass_on(PENSTOCK_REAL(NAME), p, in, out); \
    }                                                           \
  }

// FFTW begins anew, with one thread. Plans of ours live on.
#define PENSTOCK_CLEANUP(NAME, REAL)              \
  void NAME() {                                   \
    penstock::fftw::set_threads(sizeof(REAL), 1); \
    penstock::fftw::pass_on(PENSTOCK_REAL(NAME)); \
  }

// Fortran's: FFTW's own call one another by name, but for these.
#define PENSTOCK_EXECUTE_FORTRAN(NAME, PLAN, IN, OUT)           \
  void NAME(PLAN* p, IN* in, OUT* out) {                        \
    if (const ServedPlan* const plan = find(*p)) {              \
      plan->run(in, out);                                       \
    } else {                                                    \
      penstock::fftw::pass_on(PENSTOCK_REAL(NAME), p, in, out); \
    }                                                           \
  }

#define PENSTOCK_FFTW_FORTRAN(F, PLAN, REAL, COMPLEX, SUFFIX)                \
  void F##_execute##SUFFIX(PLAN* p) {                                        \
    if (const ServedPlan* const plan = find(*p)) {                           \
      plan->run(plan->in, plan->out);                                        \
    } else {                                                                 \
      penstock::fftw::pass_on(PENSTOCK_REAL(F##_execute##SUFFIX), p);        \
    }                                                                        \
  }                                                                          \
  PENSTOCK_EXECUTE_FORTRAN(F##_execute_dft##SUFFIX, PLAN, COMPLEX, COMPLEX)  \
  PENSTOCK_EXECUTE_FORTRAN(F##_execute_dft_r2c##SUFFIX, PLAN, REAL, COMPLEX) \
  PENSTOCK_EXECUTE_FORTRAN(F##_execute_dft_c2r##SUFFIX, PLAN, COMPLEX, REAL) \
  PENSTOCK_EXECUTE_FORTRAN(F##_execute_r2r##SUFFIX, PLAN, REAL, REAL)

#define PENSTOCK_FFTW_EXECUTE(P, REAL, COMPLEX)                                                                \
  void P##_execute(const P##_plan p) {                                                                         \
    if (const ServedPlan* const plan = find(p)) {                                                              \
      plan->run(plan->in, plan->out);                                                                          \
    } else {                                                                                                   \
      penstock::fftw::pass_on(PENSTOCK_REAL(P##_execute), p);                                                  \
    }                                                                                                          \
  }                                                                                                            \
  PENSTOCK_EXECUTE(P##_execute_dft, const P##_plan, COMPLEX, COMPLEX)                                          \
  PENSTOCK_EXECUTE(P##_execute_dft_r2c, const P##_plan, REAL, COMPLEX)                                         \
  PENSTOCK_EXECUTE(P##_execute_dft_c2r, const P##_plan, COMPLEX, REAL)                                         \
  PENSTOCK_EXECUTE(P##_execute_r2r, const P##_plan, REAL, REAL)                                                \
  PENSTOCK_EXECUTE(P##_mpi_execute_dft, P##_plan, COMPLEX, COMPLEX)                                            \
  PENSTOCK_EXECUTE(P##_mpi_execute_dft_r2c, P##_plan, REAL, COMPLEX)                                           \
  PENSTOCK_EXECUTE(P##_mpi_execute_dft_c2r, P##_plan, COMPLEX, REAL)                                           \
  PENSTOCK_EXECUTE(P##_mpi_execute_r2r, P##_plan, REAL, REAL)                                                  \
  void P##_destroy_plan(P##_plan p) {                                                                          \
    if (!penstock::fftw::take_back(p)) {                                                                       \
      penstock::fftw::pass_on(PENSTOCK_REAL(P##_destroy_plan), p);                                             \
    }                                                                                                          \
  }                                                                                                            \
  void P##_flops(const P##_plan p, double* add, double* mul, double* fma) {                                    \
    if (const ServedPlan* const plan = find(p)) {                                                              \
      *add = plan->request.operations();                                                                       \
      *mul = *fma = 0;                                                                                         \
    } else {                                                                                                   \
      penstock::fftw::pass_on(PENSTOCK_REAL(P##_flops), p, add, mul, fma);                                     \
    }                                                                                                          \
  }                                                                                                            \
  double P##_estimate_cost(const P##_plan p) {                                                                 \
    const ServedPlan* const plan = find(p);                                                                    \
    return plan != nullptr ? plan->request.operations()                                                        \
                           : penstock::fftw::pass_on(PENSTOCK_REAL(P##_estimate_cost), p);                     \
  }                                                                                                            \
  double P##_cost(const P##_plan p) {                                                                          \
    const ServedPlan* const plan = find(p);                                                                    \
    return plan != nullptr ? plan->request.operations() : penstock::fftw::pass_on(PENSTOCK_REAL(P##_cost), p); \
  }                                                                                                            \
  void P##_fprint_plan(const P##_plan p, FILE* file) {                                                         \
    if (const ServedPlan* const plan = find(p)) {                                                              \
      std::fputs(description(*plan).c_str(), file);                                                            \
    } else {                                                                                                   \
      penstock::fftw::pass_on(PENSTOCK_REAL(P##_fprint_plan), p, file);                                        \
    }                                                                                                          \
  }                                                                                                            \
  void P##_print_plan(const P##_plan p) {                                                                      \
    P##_fprint_plan(p, stdout);                                                                                \
  }                                                                                                            \
  char* P##_sprint_plan(const P##_plan p) {                                                                    \
    const ServedPlan* const plan = find(p);                                                                    \
    if (plan == nullptr) {                                                                                     \
      return penstock::fftw::pass_on(PENSTOCK_REAL(P##_sprint_plan), p);                                       \
    }                                                                                                          \
    return strdup(description(*plan).c_str()); /* the caller frees it */                                       \
  }                                                                                                            \
  void P##_plan_with_nthreads(int threads) {                                                                   \
    penstock::fftw::set_threads(sizeof(REAL), threads);                                                        \
    penstock::fftw::pass_on(PENSTOCK_REAL(P##_plan_with_nthreads), threads);                                   \
  }                                                                                                            \
  PENSTOCK_CLEANUP(P##_cleanup, REAL)                                                                          \
  PENSTOCK_CLEANUP(P##_cleanup_threads, REAL)                                                                  \
  PENSTOCK_CLEANUP(P##_mpi_cleanup, REAL)
// NOLINTEND(bugprone-macro-parentheses)

extern "C" {
// Declared by no header: names of FFTW's for Fortran.
#define PENSTOCK_DECLARE_FORTRAN(F, PLAN, REAL, COMPLEX, SUFFIX) \
  void F##_execute##SUFFIX(PLAN*);                               \
  void F##_execute_dft##SUFFIX(PLAN*, COMPLEX*, COMPLEX*);       \
  void F##_execute_dft_r2c##SUFFIX(PLAN*, REAL*, COMPLEX*);      \
  void F##_execute_dft_c2r##SUFFIX(PLAN*, COMPLEX*, REAL*);      \
  void F##_execute_r2r##SUFFIX(PLAN*, REAL*, REAL*);
PENSTOCK_DECLARE_FORTRAN(dfftw, fftw_plan, double, fftw_complex, _)
PENSTOCK_DECLARE_FORTRAN(dfftw, fftw_plan, double, fftw_complex, __)
PENSTOCK_DECLARE_FORTRAN(sfftw, fftwf_plan, float, fftwf_complex, _)
PENSTOCK_DECLARE_FORTRAN(sfftw, fftwf_plan, float, fftwf_complex, __)

PENSTOCK_FFTW_EXECUTE(fftw, double, fftw_complex)
PENSTOCK_FFTW_EXECUTE(fftwf, float, fftwf_complex)
PENSTOCK_FFTW_FORTRAN(dfftw, fftw_plan, double, fftw_complex, _)
PENSTOCK_FFTW_FORTRAN(dfftw, fftw_plan, double, fftw_complex, __)
PENSTOCK_FFTW_FORTRAN(sfftw, fftwf_plan, float, fftwf_complex, _)
PENSTOCK_FFTW_FORTRAN(sfftw, fftwf_plan, float, fftwf_complex, __)
}

// FFTW's two precisions under one set of names. Private to the module.
#pragma once

#include <fftw3.h>

namespace penstock::measure {

template <class Real>
struct Fftw;

#define PENSTOCK_FFTW(REAL, PREFIX)                                                     \
  template <>                                                                           \
  struct Fftw<REAL> {                                                                   \
    using Plan = PREFIX##_plan;                                                         \
    using Complex = PREFIX##_complex;                                                   \
    static constexpr auto plan_complex = PREFIX##_plan_many_dft;                        \
    static constexpr auto plan_real = PREFIX##_plan_many_dft_r2c;                       \
    static constexpr auto run_complex = PREFIX##_execute_dft;                           \
    static constexpr auto run_real = PREFIX##_execute_dft_r2c;                          \
    static constexpr auto destroy = PREFIX##_destroy_plan;                              \
    static constexpr auto set_time_limit = PREFIX##_set_timelimit;                      \
    static constexpr auto make_planner_thread_safe = PREFIX##_make_planner_thread_safe; \
  };
PENSTOCK_FFTW(float, fftwf)
PENSTOCK_FFTW(double, fftw)
#undef PENSTOCK_FFTW

}  // namespace penstock::measure

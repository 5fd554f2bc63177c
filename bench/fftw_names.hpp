// FFTW's two precisions under one set of names, for the benchmarks that have it as their peer.
#pragma once

#include <fftw3.h>

namespace penstock::bench {

template <class Real>
struct FftwNames;

#define PENSTOCK_FFTW(REAL, PREFIX)                                    \
  template <>                                                          \
  struct FftwNames<REAL> {                                             \
    using Plan = PREFIX##_plan;                                        \
    using Complex = PREFIX##_complex;                                  \
    static constexpr auto allocate = PREFIX##_alloc_complex;           \
    static constexpr auto release = PREFIX##_free;                     \
    static constexpr auto plan_complex_1d = PREFIX##_plan_dft_1d;      \
    static constexpr auto plan_forward_1d = PREFIX##_plan_dft_r2c_1d;  \
    static constexpr auto plan_backward_1d = PREFIX##_plan_dft_c2r_1d; \
    static constexpr auto plan_real_1d = PREFIX##_plan_r2r_1d;         \
    static constexpr auto plan_many = PREFIX##_plan_many_dft;          \
    static constexpr auto plan_complex = PREFIX##_plan_dft_3d;         \
    static constexpr auto plan_real = PREFIX##_plan_dft_r2c_3d;        \
    static constexpr auto run = PREFIX##_execute;                      \
    static constexpr auto destroy = PREFIX##_destroy_plan;             \
  };
PENSTOCK_FFTW(float, fftwf)
PENSTOCK_FFTW(double, fftw)
#undef PENSTOCK_FFTW

}  // namespace penstock::bench

// FFTW's own parallel transform, the peer of a benchmark: over MPI on several ranks, by its threads on one.
#pragma once

#include <fftw3-mpi.h>

#include <algorithm>
#include <complex>
#include <cstddef>

#include "bench/fftw_names.hpp"

namespace penstock::bench {

/// What FFTW's threads and MPI add to its names.
template <class Real>
struct FftwMpiNames;

#define PENSTOCK_FFTW(REAL, PREFIX)                                           \
  template <>                                                                 \
  struct FftwMpiNames<REAL> : FftwNames<REAL> {                               \
    static constexpr auto init_threads = PREFIX##_init_threads;               \
    static constexpr auto init_mpi = PREFIX##_mpi_init;                       \
    static constexpr auto set_threads = PREFIX##_plan_with_nthreads;          \
    static constexpr auto local_size = PREFIX##_mpi_local_size_3d_transposed; \
    static constexpr auto plan_complex_over_mpi = PREFIX##_mpi_plan_dft_3d;   \
    static constexpr auto plan_real_over_mpi = PREFIX##_mpi_plan_dft_r2c_3d;  \
  };
PENSTOCK_FFTW(float, fftwf)
PENSTOCK_FFTW(double, fftw)
#undef PENSTOCK_FFTW

enum class Place { same, other };

/// A forward transform of n^3 points, its result in the same place or another, planned with FFTW_MEASURE; over MPI with
/// transposed output. Real data have room for the rows of 2 (n/2 + 1) numbers that FFTW wants in place and over MPI.
template <class Real>
class FftwPeer {
 public:
  using Complex = std::complex<Real>;

  FftwPeer(std::ptrdiff_t n, bool is_real, bool is_over_mpi, int threads, Place place) {
    Names::init_threads();
    Names::init_mpi();
    Names::set_threads(threads);
    const std::ptrdiff_t row = is_real ? n / 2 + 1 : n;
    std::ptrdiff_t planes = n;
    std::ptrdiff_t size = n * n * row;
    if (is_over_mpi) {
      std::ptrdiff_t first = 0;
      std::ptrdiff_t rows = 0;
      std::ptrdiff_t first_row = 0;
      size = Names::local_size(n, n, row, MPI_COMM_WORLD, &planes, &first, &rows, &first_row);
    }
    data_ = Names::allocate(static_cast<std::size_t>(size));
    result_ = place == Place::same ? data_ : Names::allocate(static_cast<std::size_t>(size));
    count_ = static_cast<std::size_t>(planes * n * row);
    plan_ = is_over_mpi ? plan_over_mpi(n, is_real) : plan_on_threads(static_cast<int>(n), is_real);
  }
  ~FftwPeer() {
    Names::destroy(plan_);
    if (result_ != data_) {
      Names::release(result_);
    }
    Names::release(data_);
  }
  FftwPeer(const FftwPeer&) = delete;
  FftwPeer& operator=(const FftwPeer&) = delete;

  /// Sets all elements, of real data in pairs.
  void fill(Complex value) { std::fill_n(reinterpret_cast<Complex*>(data_), count_, value); }
  void run() { Names::run(plan_); }

 private:
  using Names = FftwMpiNames<Real>;

  typename Names::Plan plan_over_mpi(std::ptrdiff_t n, bool is_real) {
    const unsigned flags = FFTW_MEASURE | FFTW_MPI_TRANSPOSED_OUT;
    return is_real ? Names::plan_real_over_mpi(n, n, n, reinterpret_cast<Real*>(data_), result_, MPI_COMM_WORLD, flags)
                   : Names::plan_complex_over_mpi(n, n, n, data_, result_, MPI_COMM_WORLD, FFTW_FORWARD, flags);
  }
  typename Names::Plan plan_on_threads(int n, bool is_real) {
    return is_real ? Names::plan_real(n, n, n, reinterpret_cast<Real*>(data_), result_, FFTW_MEASURE)
                   : Names::plan_complex(n, n, n, data_, result_, FFTW_FORWARD, FFTW_MEASURE);
  }

  typename Names::Complex* data_;
  typename Names::Complex* result_;
  std::size_t count_;
  typename Names::Plan plan_;
};

}  // namespace penstock::bench

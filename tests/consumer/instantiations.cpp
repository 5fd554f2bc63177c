// Names the function templates of faces whose instances are in the library: a shared library that hides one of them
// does not link with this. (GCC takes an instance's visibility from the template's definition.)
#include <complex>

#include "penstock/fft/fft.hpp"
#include "penstock/field/field.hpp"
#include "penstock/gas/gas.hpp"
#if PENSTOCK_HAS_GEMM
#include "penstock/gemm/gemm.hpp"
#endif

namespace {

template <class Function>
bool is_there(Function* function) {
  Function* const volatile address = function;
  return address != nullptr;
}

template <class Real>
bool has_instances() {
  using namespace penstock;
  bool all = is_there(&fft::memory_need<Real>) && is_there(&field::time_round_trips<Real>) &&
             is_there(&field::filter_low_pass<Real>) && is_there(&field::sum_shells<Real>) &&
             is_there(&field::check<Real>) && is_there(&field::tolerance<Real>);
#if PENSTOCK_HAS_GEMM
  all = all && is_there(&gemm::multiply<Real>) && is_there(&gemm::multiply<std::complex<Real>>) &&
        is_there(&gemm::pgemm<Real>) && is_there(&gemm::wrong_rows<Real>);
#endif
  return all;
}

}  // namespace

bool has_all_instances() {
  return has_instances<float>() && has_instances<double>();
}

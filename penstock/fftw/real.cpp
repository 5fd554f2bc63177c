#include "penstock/fftw/real.hpp"

namespace penstock::fftw {

thread_local int PassingOn::depth = 0;

}  // namespace penstock::fftw

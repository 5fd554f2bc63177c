// The tables of passes, one for each set of instructions and precision.
#pragma once

#include "penstock/base/processor.hpp"
#include "penstock/transform/passes.hpp"

namespace penstock::transform {

/// The passes of a usable set.
template <class Real>
const PassTable<Real>& passes_of(InstructionSet set) noexcept;

extern const PassTable<double> portable_double;
extern const PassTable<float> portable_single;
#if defined(__x86_64__)
extern const PassTable<double> avx2_double;
extern const PassTable<float> avx2_single;
extern const PassTable<double> avx512_double;
extern const PassTable<float> avx512_single;
#endif

}  // namespace penstock::transform

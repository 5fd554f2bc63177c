#include "penstock/transform/pass_tables.hpp"

#include "penstock/base/error.hpp"

namespace penstock::transform {

template <>
const PassTable<double>& passes_of<double>([[maybe_unused]] InstructionSet set) noexcept {
  PENSTOCK_ASSERT(is_usable(set));
#if defined(__x86_64__)
  if (set != InstructionSet::portable) {
    return set == InstructionSet::avx2 ? avx2_double : avx512_double;
  }
#endif
  return portable_double;
}

template <>
const PassTable<float>& passes_of<float>([[maybe_unused]] InstructionSet set) noexcept {
  PENSTOCK_ASSERT(is_usable(set));
#if defined(__x86_64__)
  if (set != InstructionSet::portable) {
    return set == InstructionSet::avx2 ? avx2_single : avx512_single;
  }
#endif
  return portable_single;
}

}  // namespace penstock::transform

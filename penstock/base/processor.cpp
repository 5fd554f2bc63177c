#include "penstock/base/processor.hpp"

namespace penstock {

const char* name_of(InstructionSet set) noexcept {
  switch (set) {
    case InstructionSet::avx2:
      return "avx2";
    case InstructionSet::avx512:
      return "avx512";
    default:
      return "portable";
  }
}

bool is_usable(InstructionSet set) noexcept {
  switch (set) {
    case InstructionSet::portable:
      return true;
#if defined(__x86_64__)
    case InstructionSet::avx2:
      return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
    case InstructionSet::avx512:
      return __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
             __builtin_cpu_supports("avx512vl") != 0 && __builtin_cpu_supports("avx512dq") != 0;
#endif
    default:
      return false;
  }
}

InstructionSet best_instruction_set() noexcept {
  static const InstructionSet best = is_usable(InstructionSet::avx512) ? InstructionSet::avx512
                                     : is_usable(InstructionSet::avx2) ? InstructionSet::avx2
                                                                       : InstructionSet::portable;
  return best;
}

}  // namespace penstock

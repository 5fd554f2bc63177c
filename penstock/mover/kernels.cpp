#include "penstock/mover/kernels.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include <cstring>

#include "penstock/base/error.hpp"

namespace penstock::mover {

bool has_fast_strings() noexcept {
#if defined(__x86_64__)
  // Asked once: a virtual machine leaves the processor for it, some 8 us.
  static const bool has_enhanced = [] {
    constexpr unsigned enhanced = 1U << 9;  // leaf 7, EBX: ERMS
    unsigned eax = 0;
    unsigned ebx = 0;
    unsigned ecx = 0;
    unsigned edx = 0;
    return __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) != 0 && (ebx & enhanced) != 0;
  }();
  return has_enhanced;
#else
  return false;
#endif
}

const Kernels& kernels_of([[maybe_unused]] InstructionSet set) noexcept {
  PENSTOCK_ASSERT(is_usable(set));
#if defined(__x86_64__)
  if (set == InstructionSet::avx512) {
    return avx512_kernels;
  }
  if (set == InstructionSet::avx2) {
    return avx2_kernels;
  }
#endif
  return portable_kernels;
}

void copy_one_block(const std::byte* source, std::byte* destination, const Work& work) noexcept {
  std::memcpy(destination, source, static_cast<std::size_t>(work.block));
}

}  // namespace penstock::mover

#include "penstock/lab/pack/pack_hand.hpp"

#include <string_view>

namespace penstock::lab {

namespace base {
HandCode code(const HandLoop& loop) noexcept;
}
#if defined(__x86_64__)
namespace v3 {
HandCode code(const HandLoop& loop) noexcept;
}
namespace v4 {
HandCode code(const HandLoop& loop) noexcept;
}
#endif

const char* hand_instruction_set() noexcept {
#if defined(__x86_64__)
  // What the two levels of the x86-64 psABI add that the compiler uses in such loops.
  const bool has_v3 =
      __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("bmi2") != 0 && __builtin_cpu_supports("fma") != 0;
  const bool has_v4 = has_v3 && __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
                      __builtin_cpu_supports("avx512cd") != 0 && __builtin_cpu_supports("avx512dq") != 0 &&
                      __builtin_cpu_supports("avx512vl") != 0;
  return has_v4 ? "x86-64-v4" : has_v3 ? "x86-64-v3" : "x86-64";
#else
  return "base";
#endif
}

HandCode hand_code(const HandLoop& loop) noexcept {
#if defined(__x86_64__)
  const std::string_view set = hand_instruction_set();
  if (set == "x86-64-v4") {
    return v4::code(loop);
  }
  if (set == "x86-64-v3") {
    return v3::code(loop);
  }
#endif
  return base::code(loop);
}

}  // namespace penstock::lab

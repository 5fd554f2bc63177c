// What the processor that a program runs on can do.
#pragma once

#include <array>

namespace penstock {

/// The sets of vector instructions that code is compiled for, the narrowest first. `portable` is what every processor
/// of the architecture has: vectors of 16 bytes (SSE2, NEON). `avx2` has fused multiplication and addition as well.
enum class InstructionSet { portable, avx2, avx512 };
inline constexpr std::array instruction_sets{InstructionSet::portable, InstructionSet::avx2, InstructionSet::avx512};

/// "portable", "avx2", "avx512".
const char* name_of(InstructionSet set) noexcept;

/// Whether this processor (and system) runs the set.
bool is_usable(InstructionSet set) noexcept;

/// The widest set that is usable.
InstructionSet best_instruction_set() noexcept;

}  // namespace penstock

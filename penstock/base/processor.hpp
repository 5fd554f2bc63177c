// The vector instructions of the processor that the program runs on. Not included by base.hpp.
#pragma once

#include <array>

#pragma GCC visibility push(default)

namespace penstock {

/// The sets of vector instructions that code is compiled for, the narrowest first. `portable` has the vectors of 16
/// bytes that every processor of the architecture has (SSE2, NEON). `avx2` includes fused multiply-add.
enum class InstructionSet { portable, avx2, avx512 };
inline constexpr std::array instruction_sets{InstructionSet::portable, InstructionSet::avx2, InstructionSet::avx512};

/// The name of the set: "portable", "avx2" or "avx512".
const char* name_of(InstructionSet set) noexcept;

/// Whether this processor, and its operating system, can run the set.
bool is_usable(InstructionSet set) noexcept;

/// The widest set that is usable.
InstructionSet best_instruction_set() noexcept;

}  // namespace penstock

#pragma GCC visibility pop

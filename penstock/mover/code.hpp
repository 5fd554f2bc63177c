// Machine code for a copy, made at run time. Private to the module.
#pragma once

#include "penstock/mover/code_pages.hpp"
#include "penstock/mover/program.hpp"

namespace penstock::mover {

/// Whether machine code is faster than the steps run one by one: for small blocks and lists, whose loops it writes out,
/// not for what its kernels spend their time in.
bool is_worth_code(const Mover::Program& program) noexcept;

/// The program as machine code for this processor, a function of type `Move` which refers to the program; nothing where
/// this build has no compiler for it, or where the system gives no executable memory.
CodePages make_code(const Mover::Program& program) noexcept;

}  // namespace penstock::mover

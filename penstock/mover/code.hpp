// Machine code for a copy, made at run time. Private to the module.
#pragma once

#include <span>
#include <vector>

#include "penstock/mover/code_pages.hpp"
#include "penstock/mover/program.hpp"

namespace penstock::mover {

/// Whether machine code is, or may be, faster than the steps run one by one: for small blocks and lists, whose loops it
/// writes out, and for rows of which uses try more than one style; not for what only kernels do.
bool is_worth_code(const Mover::Program& program) noexcept;

/// A program in one style: a function of type `Move`, which refers to the program.
struct StyledCode {
  Style style;
  CodePages code;

  Move move() const noexcept { return reinterpret_cast<Move>(const_cast<void*>(code.begin())); }
};

/// The styles that are worth a trial by uses, the rules' first; that one alone where the program is short.
std::span<const Style> styles_for(const Mover::Program& program) noexcept;

/// The program as machine code for this processor: of the styles given those whose code differs from that of the ones
/// before. Nothing where this build has no compiler for the processor, or where the system gives no executable memory.
std::vector<StyledCode> make_code(const Mover::Program& program, std::span<const Style> wanted) noexcept;

}  // namespace penstock::mover

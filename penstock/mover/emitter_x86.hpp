// Writes the steps of a copy as a function for x86-64. Private to the module.
#pragma once

#include <asmjit/core.h>
#include <asmjit/x86.h>

#include <cstdint>
#include <span>

#include "penstock/mover/dense_x86.hpp"
#include "penstock/mover/program.hpp"
#include "penstock/mover/writer_x86.hpp"

namespace penstock::mover {

/// Whether a step's innermost work is written out in a style rather than left to its kernel.
bool is_in_line(const Step& step, Style style) noexcept;

/// The steps' loops with all numbers known; blocks copied by the widest moves of the instruction set, short loops and
/// lists unrolled; what is long calls the kernel that the step would call.
///
/// The function takes the source in rdi and the destination in rsi and keeps them in rbx and rbp, so that kernels may
/// be called from any place. Vectors 16 to 31 need no vzeroupper; where they are missing it ends the function.
class Emitter {
 public:
  Emitter(asmjit::CodeHolder& holder, const Mover::Program& program, Style style);

  void emit();

 private:
  using Gp = asmjit::x86::Gp;

  /// What the innermost loop asks for ahead of its moves: so many bytes further on the side that is not contiguous.
  struct Prefetch {
    std::int64_t distance = 0;
    bool is_source = true;
  };

  void emit_step(const Step& step, std::int64_t from, std::int64_t to);
  void emit_loops(const Step& step, std::span<const JointLevel> loops, std::int64_t from, std::int64_t to);
  bool emit_dense(const Step& step, const JointLevel& loop, std::int64_t from, std::int64_t to);
  void emit_inside(const Step& step, std::int64_t from, std::int64_t to);
  std::int64_t unrolling(std::int64_t extent, std::int64_t moves) const;
  bool is_far() const;
  bool is_by_memcpy(std::int64_t bytes) const;
  bool is_by_string(std::int64_t bytes) const;
  void emit_block(std::int64_t from, std::int64_t to, std::int64_t bytes);
  void emit_list(const Step& step, std::int64_t from, std::int64_t to);
  void emit_list_loop(const Step& step, std::int64_t from, std::int64_t to);
  void emit_call(const Step& step, std::int64_t from, std::int64_t to);
  void emit_memcpy(std::int64_t from, std::int64_t to, std::int64_t bytes);
  void emit_prefetch(std::int64_t from, std::int64_t to, std::int64_t bytes);
  Prefetch choose_prefetch(const Step& step, std::span<const JointLevel> loops) const;

  Writer writer_;
  asmjit::x86::Assembler& code_;
  DenseWriter dense_;
  const Mover::Program& program_;
  Style style_;
  Prefetch prefetch_;
  /// Loops whose counters lie in the stack frame, at present.
  int framed_loops_ = 0;
};

}  // namespace penstock::mover

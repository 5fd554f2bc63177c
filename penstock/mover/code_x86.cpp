// Machine code for x86-64, by AsmJit: the steps' loops with all numbers known, blocks copied by the widest moves of the
// processor, short loops and lists unrolled; what is long calls the kernel that the step would call.
//
// A function takes the source in rdi and the destination in rsi and keeps them in rbx and rbp, so that kernels may be
// called from any place. Vectors 16 to 31 need no vzeroupper; where they are missing it ends the function.
#include <asmjit/core.h>
#include <asmjit/x86.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <exception>
#include <limits>
#include <span>
#include <vector>

#include "penstock/mover/code.hpp"

namespace penstock::mover {
namespace {

namespace x86 = asmjit::x86;

/// Blocks up to this size are copied in line; the moves that are unrolled in a row are at most so many.
constexpr std::int64_t most_bytes_in_line = 512;
constexpr std::int64_t most_moves_unrolled = 48;
/// Up to so many entries a list is written out.
constexpr std::size_t most_entries_in_line = 48;
/// From so many bytes on in one kernel's call its fixed costs do not show; what it does better than plain loops, asking
/// ahead and going by tiles, does.
constexpr std::int64_t most_bytes_in_loops = 16384;

bool fits_in_32_bits(std::int64_t value) {
  return value >= std::numeric_limits<std::int32_t>::min() && value <= std::numeric_limits<std::int32_t>::max();
}

std::int64_t bytes_of_rows(const Work& work) {
  return work.block * work.inner.extent * work.outer.extent;
}

bool is_rows(const Step& step) {
  return step.steps.empty() && step.entries.empty() && step.pieces.empty() && !step.work.is_transposition;
}

/// Whether a step's innermost work is written out rather than left to its kernel.
bool is_in_line(const Step& step) {
  if (is_rows(step)) {
    return step.work.block <= most_bytes_in_line && bytes_of_rows(step.work) <= most_bytes_in_loops;
  }
  if (!step.entries.empty()) {
    return step.work.entry_count <= most_entries_in_line && step.bytes_inside <= most_bytes_in_loops;
  }
  return !step.pieces.empty() && step.pieces.size() <= most_entries_in_line && step.bytes_inside <= most_bytes_in_loops;
}

class Emitter {
 public:
  Emitter(asmjit::CodeHolder& holder, InstructionSet set, bool is_pack)
      : code_(&holder), set_(set), is_pack_(is_pack) {}

  void emit(const Step& root) {
    // The return address and two registers were pushed: 8 more than a multiple of 16 aligns the stack for calls.
    const std::int32_t frame = (8 * most_loops(root) + 15) / 16 * 16 + 8;
    code_.push(x86::rbx);
    code_.push(x86::rbp);
    code_.sub(x86::rsp, frame);
    code_.mov(x86::rbx, x86::rdi);
    code_.mov(x86::rbp, x86::rsi);
    emit_step(root, 0, 0);
    if (set_ == InstructionSet::avx2) {
      code_.vzeroupper();
    }
    code_.add(x86::rsp, frame);
    code_.pop(x86::rbp);
    code_.pop(x86::rbx);
    code_.ret();
  }

 private:
  /// A step's loops, outermost first, with those of a kernel that is written out.
  static std::vector<JointLevel> loops_of(const Step& step) {
    std::vector<JointLevel> loops;
    for (const int level : step.order) {
      loops.push_back(step.levels[static_cast<std::size_t>(level)]);
    }
    if (is_rows(step) && is_in_line(step)) {
      for (const JointLevel& level : {step.work.outer, step.work.inner}) {
        if (level.extent > 1) {
          loops.push_back(level);
        }
      }
    }
    return loops;
  }

  /// The most loops around one another in a step.
  static int most_loops(const Step& step) {
    int most = 0;
    for (const Step& part : step.steps) {
      most = std::max(most, most_loops(part));
    }
    return most + static_cast<int>(step.levels.size());
  }

  /// `from`, `to`: what is to be added to rbx and rbp.
  void emit_step(const Step& step, std::int64_t from, std::int64_t to) {
    emit_loops(step, loops_of(step), from + step.source_offset, to + step.destination_offset);
  }

  void emit_loops(const Step& step, std::span<const JointLevel> loops, std::int64_t from, std::int64_t to) {
    if (loops.empty()) {
      emit_inside(step, from, to);
      return;
    }
    const JointLevel& loop = loops[0];
    const auto emit_some = [&](std::int64_t count) {
      for (std::int64_t i = 0; i < count; ++i) {
        emit_loops(step, loops.subspan(1), from + i * loop.source_stride, to + i * loop.destination_stride);
      }
    };
    std::int64_t moves = moves_inside(step);
    for (const JointLevel& inside : loops.subspan(1)) {
      moves *= inside.extent;
    }
    const std::int64_t unrolled = unrolling(loop.extent, moves);
    if (unrolled == loop.extent) {
      emit_some(loop.extent);
      return;
    }
    // Kernels keep the registers that are not used here, so that loops around calls count in the stack frame.
    constexpr std::array counters{x86::rdx, x86::rcx, x86::rdi, x86::rsi};
    const std::int64_t turns = loop.extent / unrolled;
    const bool is_in_register = is_in_line(step) && loops.size() <= counters.size();
    const x86::Gp in_register = counters[(loops.size() - 1) % counters.size()];
    const x86::Mem in_frame = x86::qword_ptr(x86::rsp, 8 * depth_++);
    if (is_in_register) {
      code_.mov(in_register, turns);
    } else {
      code_.mov(x86::rax, turns);
      code_.mov(in_frame, x86::rax);
    }
    const asmjit::Label top = code_.newLabel();
    code_.align(asmjit::AlignMode::kCode, 16);
    code_.bind(top);
    emit_some(unrolled);
    emit_add(x86::rbx, unrolled * loop.source_stride);
    emit_add(x86::rbp, unrolled * loop.destination_stride);
    is_in_register ? code_.dec(in_register) : code_.dec(in_frame);
    code_.jnz(top);
    --depth_;
    emit_some(loop.extent % unrolled);
    // Back to where the loop began.
    emit_add(x86::rbx, -turns * unrolled * loop.source_stride);
    emit_add(x86::rbp, -turns * unrolled * loop.destination_stride);
  }

  /// How many of a loop's repetitions, of so many moves each, are written out in a row.
  static std::int64_t unrolling(std::int64_t extent, std::int64_t moves) {
    constexpr std::int64_t most_in_a_loop = 8;
    const std::int64_t most = std::max<std::int64_t>(1, most_moves_unrolled / moves);
    return extent <= most ? extent : std::min(most, most_in_a_loop);
  }

  static std::int64_t moves_inside(const Step& step) {
    const bool is_one_block = is_rows(step) && is_in_line(step);
    return is_one_block ? step.work.block / 64 + 1 : most_moves_unrolled;
  }

  void emit_inside(const Step& step, std::int64_t from, std::int64_t to) {
    if (!step.steps.empty()) {
      for (const Step& part : step.steps) {
        emit_step(part, from, to);
      }
    } else if (!is_in_line(step)) {
      emit_call(step, from, to);
    } else if (!step.entries.empty()) {
      for (std::size_t i = 0; i < step.work.entry_count; ++i) {
        const std::int64_t apart = step.entries[i].offset;
        const std::int64_t packed = step.entries[i].position;
        emit_block(from + (is_pack_ ? apart : packed), to + (is_pack_ ? packed : apart),
                   step.entries[i + 1].position - packed);
      }
    } else if (!step.pieces.empty()) {
      for (const Piece& piece : step.pieces) {
        emit_block(from + piece.source_offset, to + piece.destination_offset, piece.bytes);
      }
    } else {
      emit_block(from, to, step.work.block);
    }
  }

  void emit_call(const Step& step, std::int64_t from, std::int64_t to) {
    emit_address(x86::rdi, x86::rbx, from);
    emit_address(x86::rsi, x86::rbp, to);
    code_.mov(x86::rdx, reinterpret_cast<std::uintptr_t>(&step.work));
    code_.mov(x86::rax, reinterpret_cast<std::uintptr_t>(step.kernel));
    code_.call(x86::rax);
  }

  void emit_address(const x86::Gp& target, const x86::Gp& base, std::int64_t offset) {
    if (fits_in_32_bits(offset)) {
      code_.lea(target, x86::ptr(base, static_cast<std::int32_t>(offset)));
    } else {
      code_.mov(target, offset);
      code_.add(target, base);
    }
  }

  void emit_add(const x86::Gp& target, std::int64_t value) {
    if (fits_in_32_bits(value)) {
      if (value != 0) {
        code_.add(target, static_cast<std::int32_t>(value));
      }
    } else {
      code_.mov(x86::rax, value);
      code_.add(target, x86::rax);
    }
  }

  /// Copies a block by the widest moves. What is then left goes by the power of two that reaches its end, overlapping
  /// what was copied; of less than one such move, by two that meet or overlap.
  void emit_block(std::int64_t from, std::int64_t to, std::int64_t bytes) {
    const x86::Mem source = address_of(x86::rbx, x86::r10, from, bytes);
    const x86::Mem destination = address_of(x86::rbp, x86::r11, to, bytes);
    const std::int64_t widest = set_ == InstructionSet::avx512 ? 64 : set_ == InstructionSet::avx2 ? 32 : 16;
    for (std::int64_t done = 0; done < bytes;) {
      const auto left = static_cast<std::uint64_t>(bytes - done);
      const auto reaching = static_cast<std::int64_t>(std::bit_ceil(left));
      auto width = std::min(static_cast<std::int64_t>(std::bit_floor(left)), widest);
      if (reaching <= std::min(widest, bytes)) {
        width = reaching;
        done = bytes - width;
      }
      x86::Mem at_source = source.cloneAdjusted(done);
      x86::Mem at_destination = destination.cloneAdjusted(done);
      emit_move(at_destination, at_source, width);
      done += width;
    }
  }

  /// `base` + `offset`, by way of `spare` where that is too far for an instruction's own offset.
  x86::Mem address_of(const x86::Gp& base, const x86::Gp& spare, std::int64_t offset, std::int64_t bytes) {
    if (fits_in_32_bits(offset) && fits_in_32_bits(offset + bytes)) {
      return x86::ptr(base, static_cast<std::int32_t>(offset));
    }
    code_.mov(spare, offset);
    return x86::ptr(base, spare);
  }

  void emit_move(x86::Mem& to, x86::Mem& from, std::int64_t bytes) {
    next_ = (next_ + 1) % 8;
    const x86::Gp general = next_ % 2 == 0 ? x86::r8 : x86::r9;
    to.setSize(static_cast<std::uint32_t>(bytes));
    from.setSize(static_cast<std::uint32_t>(bytes));
    if (bytes <= 2) {
      code_.movzx(general.r32(), from);
      bytes == 1 ? code_.mov(to, general.r8()) : code_.mov(to, general.r16());
    } else if (bytes == 4) {
      code_.mov(general.r32(), from);
      code_.mov(to, general.r32());
    } else if (bytes == 8) {
      code_.mov(general, from);
      code_.mov(to, general);
    } else {
      emit_vector_move(to, from, bytes);
    }
  }

  void emit_vector_move(const x86::Mem& to, const x86::Mem& from, std::int64_t bytes) {
    if (set_ == InstructionSet::avx512) {
      const std::uint32_t high = 16 + next_;
      const x86::Vec vector = bytes == 64   ? x86::Vec(x86::zmm(high))
                              : bytes == 32 ? x86::Vec(x86::ymm(high))
                                            : x86::Vec(x86::xmm(high));
      code_.emit(x86::Inst::kIdVmovdqu64, vector, from);
      code_.emit(x86::Inst::kIdVmovdqu64, to, vector);
    } else if (set_ == InstructionSet::avx2) {
      const x86::Vec vector = bytes == 32 ? x86::Vec(x86::ymm(next_)) : x86::Vec(x86::xmm(next_));
      code_.emit(x86::Inst::kIdVmovdqu, vector, from);
      code_.emit(x86::Inst::kIdVmovdqu, to, vector);
    } else {
      code_.movups(x86::xmm(next_), from);
      code_.movups(to, x86::xmm(next_));
    }
  }

  x86::Assembler code_;
  InstructionSet set_;
  bool is_pack_;
  int depth_ = 0;
  std::uint32_t next_ = 0;
};

/// How many steps there are at the leaves, and whether one is written out.
struct Leaves {
  std::size_t count = 0;
  bool has_in_line = false;
};

void count_leaves(const Step& step, Leaves& leaves) {
  for (const Step& part : step.steps) {
    count_leaves(part, leaves);
  }
  if (step.steps.empty()) {
    ++leaves.count;
    leaves.has_in_line = leaves.has_in_line || is_in_line(step);
  }
}

// A step is up to some 100 instructions: more code than this would not stay in the processor's caches of it.
constexpr std::size_t most_leaves = 64;

class Failures : public asmjit::ErrorHandler {
 public:
  void handleError(asmjit::Error, const char*, asmjit::BaseEmitter*) override { is_any = true; }
  bool is_any = false;
};

}  // namespace

MachineCode::~MachineCode() {
  if (pages_ != nullptr) {
    asmjit::VirtMem::release(pages_, bytes_);
  }
}

bool is_worth_code(const Mover::Program& program) noexcept {
  Leaves leaves;
  if (program.has_steps) {
    count_leaves(program.root, leaves);
  }
  return leaves.has_in_line && leaves.count <= most_leaves && program.hint == Hint::reuse;
}

std::optional<MachineCode> make_code(const Mover::Program& program, InstructionSet set) noexcept try {
  asmjit::CodeHolder holder;
  Failures failures;
  if (holder.init(asmjit::Environment::host()) != asmjit::kErrorOk) {
    return std::nullopt;
  }
  holder.setErrorHandler(&failures);
  Emitter(holder, set, program.is_pack).emit(program.root);
  const asmjit::CodeBuffer& written = holder.textSection()->buffer();
  const std::size_t page = asmjit::VirtMem::info().pageSize;
  const std::size_t bytes = (written.size() + page - 1) / page * page;
  void* pages = nullptr;
  if (failures.is_any ||
      asmjit::VirtMem::alloc(&pages, bytes, asmjit::VirtMem::MemoryFlags::kAccessRW) != asmjit::kErrorOk) {
    return std::nullopt;
  }
  MachineCode code(pages, bytes);
  std::memcpy(pages, written.data(), written.size());
  if (asmjit::VirtMem::protect(pages, bytes, asmjit::VirtMem::MemoryFlags::kAccessRX) != asmjit::kErrorOk) {
    return std::nullopt;
  }
  return code;
} catch (const std::exception&) {
  return std::nullopt;
}

}  // namespace penstock::mover

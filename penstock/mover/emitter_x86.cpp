#include "penstock/mover/emitter_x86.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace penstock::mover {
namespace {

namespace x86 = asmjit::x86;

/// The moves that are written out in a row.
constexpr std::int64_t max_moves_unrolled = 48;
/// Up to so many entries a list is written out.
constexpr std::size_t max_entries_unrolled = 48;

/// How far ahead is asked for what comes from memory: best of 8 to 128 (EPYC 9005, November 2026), where 16 to 64 are
/// much alike.
constexpr std::int64_t lines_ahead = 32;
/// What touches less is taken to lie in the second cache, unless the hint says otherwise.
constexpr std::int64_t max_touched_in_cache = std::int64_t{1} << 20;
/// What touches no more is under way at once anyway: 16 rows of 256 B lose a quarter by being asked for.
constexpr std::int64_t min_touched_ahead = 8192;

bool is_rows(const Step& step) {
  return step.steps.empty() && step.offsets.empty() && step.pieces.empty() && !step.work.is_transposition;
}

/// a * b, or `most` where that is less.
std::int64_t product_up_to(std::int64_t most, std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? most : std::min(most, product);
}

/// A step's loops, outermost first, with those of a kernel that is written out.
std::vector<JointLevel> loops_of(const Step& step, Style style) {
  std::vector<JointLevel> loops;
  for (const int level : step.order) {
    loops.push_back(step.levels[static_cast<std::size_t>(level)]);
  }
  if (is_rows(step) && is_in_line(step, style)) {
    for (const JointLevel& level : {step.work.outer, step.work.inner}) {
      if (level.extent > 1) {
        loops.push_back(level);
      }
    }
  }
  return loops;
}

/// The most loops around one another in a step.
int max_loops(const Step& step) {
  int most = 0;
  for (const Step& part : step.steps) {
    most = std::max(most, max_loops(part));
  }
  return most + static_cast<int>(step.levels.size());
}

/// Moves of a block, or enough to unroll nothing around the step.
std::int64_t moves_inside(const Step& step, Style style) {
  return is_rows(step) && is_in_line(step, style) ? step.work.block / 64 + 1 : max_moves_unrolled;
}

}  // namespace

bool is_in_line(const Step& step, Style style) noexcept {
  if (!step.steps.empty() || step.work.is_transposition) {
    return false;
  }
  if (!step.offsets.empty()) {
    return step.work.block > 0 || step.work.entry_count <= max_entries_unrolled;
  }
  if (!step.pieces.empty()) {
    return step.pieces.size() <= max_entries_unrolled;
  }
  return !step.is_kernel_special || (style == Style::plain && !step.levels.empty());
}

Emitter::Emitter(asmjit::CodeHolder& holder, const Mover::Program& program, Style style)
    : writer_(holder, program.set), code_(writer_.code), dense_(code_), program_(program), style_(style) {}

void Emitter::emit() {
  // The return address and two registers were pushed: 8 more than a multiple of 16 aligns the stack for calls.
  const std::int32_t frame = (8 * max_loops(program_.root) + 15) / 16 * 16 + 8;
  code_.push(x86::rbx);
  code_.push(x86::rbp);
  code_.sub(x86::rsp, frame);
  code_.mov(x86::rbx, x86::rdi);
  code_.mov(x86::rbp, x86::rsi);
  emit_step(program_.root, 0, 0);
  if (program_.set == InstructionSet::avx2) {
    code_.vzeroupper();
  }
  code_.add(x86::rsp, frame);
  code_.pop(x86::rbp);
  code_.pop(x86::rbx);
  code_.ret();
  dense_.finish();
}

/// `from`, `to`: what is to be added to rbx and rbp.
void Emitter::emit_step(const Step& step, std::int64_t from, std::int64_t to) {
  const std::vector<JointLevel> loops = loops_of(step, style_);
  prefetch_ = choose_prefetch(step, loops);
  emit_loops(step, loops, from + step.source_offset, to + step.destination_offset);
}

Emitter::Prefetch Emitter::choose_prefetch(const Step& step, std::span<const JointLevel> loops) const {
  if (!is_rows(step) || !is_in_line(step, style_) || loops.empty() || style_ == Style::unasking ||
      style_ == Style::plain) {
    return {};
  }
  const bool is_source = !program_.is_packing || program_.is_pack;
  const auto stride_of = [&](const JointLevel& loop) {
    return is_source ? loop.source_stride : loop.destination_stride;
  };
  std::int64_t touched =
      std::max<std::int64_t>(step.work.block, std::min<std::int64_t>(64, std::abs(stride_of(loops.back()))));
  for (const JointLevel& loop : loops) {
    touched = product_up_to(max_touched_in_cache + 1, touched, loop.extent);
  }
  if (touched <= min_touched_ahead || (!is_far() && touched <= max_touched_in_cache)) {
    return {};
  }
  const std::int64_t lines = (step.work.block + 63) / 64;
  if (std::abs(stride_of(loops.back())) <= std::max<std::int64_t>(64, step.work.block)) {
    return {};  // line after line: the processor's own prefetchers see that
  }
  std::int64_t blocks = std::max<std::int64_t>(2, lines_ahead / lines);
  for (std::size_t i = loops.size(); i-- > 0;) {
    if (loops[i].extent > 2 * blocks || i == 0) {
      std::int64_t distance = 0;
      const bool is_too_far =
          __builtin_mul_overflow(blocks, stride_of(loops[i]), &distance) || !fits_in_32_bits(distance);
      return is_too_far ? Prefetch{} : Prefetch{distance, is_source};
    }
    blocks = (blocks + loops[i].extent - 1) / loops[i].extent;
  }
  return {};
}

void Emitter::emit_loops(const Step& step, std::span<const JointLevel> loops, std::int64_t from, std::int64_t to) {
  if (loops.empty()) {
    emit_inside(step, from, to);
    return;
  }
  const JointLevel& loop = loops[0];
  if (loops.size() == 1 && emit_dense(step, loop, from, to)) {
    return;
  }
  const auto emit_some = [&](std::int64_t count) {
    std::int64_t last_line = -1;
    for (std::int64_t i = 0; i < count; ++i) {
      if (loops.size() == 1 && prefetch_.distance != 0) {
        const std::int64_t line = i * (prefetch_.is_source ? loop.source_stride : loop.destination_stride) / 64;
        if (i == 0 || line != last_line) {
          emit_prefetch(from + i * loop.source_stride, to + i * loop.destination_stride, step.work.block);
        }
        last_line = line;
      }
      emit_loops(step, loops.subspan(1), from + i * loop.source_stride, to + i * loop.destination_stride);
    }
  };
  std::int64_t moves = moves_inside(step, style_);
  for (const JointLevel& inside : loops.subspan(1)) {
    moves = product_up_to(max_moves_unrolled + 1, moves, inside.extent);
  }
  const std::int64_t unrolled = unrolling(loop.extent, moves);
  if (unrolled == loop.extent) {
    emit_some(loop.extent);
    return;
  }
  // Neither kernels nor lists nor the string instruction keep these registers: loops around them count in the stack
  // frame.
  constexpr std::array counters{x86::rdx, x86::rcx, x86::rsi};
  const std::int64_t turns = loop.extent / unrolled;
  const bool is_in_register = is_rows(step) && is_in_line(step, style_) && !is_by_string(step.work.block) &&
                              !is_by_memcpy(step.work.block) && loops.size() <= counters.size();
  const x86::Gp in_register = counters[(loops.size() - 1) % counters.size()];
  const x86::Mem in_frame = x86::qword_ptr(x86::rsp, 8 * framed_loops_);
  if (is_in_register) {
    code_.mov(in_register, turns);
  } else {
    code_.mov(x86::rax, turns);
    code_.mov(in_frame, x86::rax);
    ++framed_loops_;
  }
  const asmjit::Label top = code_.newLabel();
  code_.align(asmjit::AlignMode::kCode, 16);
  code_.bind(top);
  emit_some(unrolled);
  writer_.write_add(x86::rbx, unrolled * loop.source_stride);
  writer_.write_add(x86::rbp, unrolled * loop.destination_stride);
  is_in_register ? code_.dec(in_register) : code_.dec(in_frame);
  code_.jnz(top);
  framed_loops_ -= is_in_register ? 0 : 1;
  emit_some(loop.extent % unrolled);
  // Back to where the loop began, in the arithmetic of addresses: one repetition further than the layout reaches.
  const auto back = [&](std::int64_t stride) {
    return static_cast<std::int64_t>(-static_cast<std::uint64_t>(turns * unrolled) *
                                     static_cast<std::uint64_t>(stride));
  };
  writer_.write_add(x86::rbx, back(loop.source_stride));
  writer_.write_add(x86::rbp, back(loop.destination_stride));
}

/// How many of a loop's repetitions, of so many moves each, are written out in a row.
std::int64_t Emitter::unrolling(std::int64_t extent, std::int64_t moves) const {
  // Few: the processor's prefetchers follow the strides of single instructions.
  const std::int64_t max_in_a_loop = style_ == Style::plain ? 1 : moves == 1 ? 8 : 4;
  const std::int64_t most = std::max<std::int64_t>(1, max_moves_unrolled / moves);
  return extent <= most ? extent : std::clamp<std::int64_t>(max_in_a_loop / moves, 1, max_in_a_loop);
}

/// Writes the loop by vectors that are shuffled, where it is dense and long enough for that; says whether it did.
bool Emitter::emit_dense(const Step& step, const JointLevel& loop, std::int64_t from, std::int64_t to) {
  if (!is_rows(step) || !is_in_line(step, style_) || style_ == Style::plain) {
    return false;
  }
  DenseLoop dense = find_dense_loop(step.work.block, loop, program_.set);
  dense.is_far = is_far();
  if (dense.spread == 0 || loop.extent <= dense.elements()) {
    return false;
  }
  // The last element is left out, so that no vector reaches behind it.
  const std::int64_t vectors = (loop.extent - 1) / dense.elements();
  const std::int64_t done = vectors * dense.elements();
  writer_.write_address(x86::r10, x86::rbx, from);
  writer_.write_address(x86::r11, x86::rbp, to);
  dense_.write(dense, vectors);
  const JointLevel rest{loop.extent - done, loop.source_stride, loop.destination_stride};
  emit_loops(step, {&rest, 1}, from + done * loop.source_stride, to + done * loop.destination_stride);
  return true;
}

void Emitter::emit_inside(const Step& step, std::int64_t from, std::int64_t to) {
  if (!step.steps.empty()) {
    for (const Step& part : step.steps) {
      emit_step(part, from, to);
    }
  } else if (!is_in_line(step, style_)) {
    emit_call(step, from, to);
  } else if (!step.offsets.empty()) {
    emit_list(step, from, to);
  } else if (!step.pieces.empty()) {
    for (const Piece& piece : step.pieces) {
      emit_block(from + piece.source_offset, to + piece.destination_offset, piece.bytes);
    }
  } else {
    emit_block(from, to, step.work.block);
  }
}

/// Between the second cache and the third the string instruction wins: it writes whole lines without reading them first
/// (rows of 2.5 to 8 KiB, a fifth to a half faster; EPYC 9005, November 2026).
bool Emitter::is_by_string(std::int64_t bytes) const {
  constexpr std::int64_t min_row = 2560;
  constexpr std::int64_t min_message = 65536;
  return style_ != Style::plain && bytes >= min_row && program_.bytes >= min_message && has_fast_strings();
}

bool Emitter::is_by_memcpy(std::int64_t bytes) const {
  return style_ == Style::plain && bytes >= memcpy_block;
}

/// Whether what is not contiguous is prefetched as if it lay in memory.
bool Emitter::is_far() const {
  return style_ == Style::asking || (style_ == Style::ruled && program_.hint != Hint::reuse);
}

/// Aligned stores cost a few more: worth it for long blocks, and for shorter ones of what outgrows the first cache.
void Emitter::emit_block(std::int64_t from, std::int64_t to, std::int64_t bytes) {
  if (is_by_memcpy(bytes)) {
    emit_memcpy(from, to, bytes);
    return;
  }
  if (style_ == Style::plain) {
    // Short moves seldom cross lines, where long ones often do, which costs most outside the first cache.
    const std::int64_t width = bytes <= 64 ? 16 : 32;
    for (std::int64_t done = 0; done < bytes; done += width) {
      writer_.write_block(from + done, to + done, std::min(width, bytes - done));
    }
    return;
  }
  if (is_by_string(bytes)) {
    writer_.write_by_string(from, to, bytes);
    return;
  }
  const bool is_aligned = bytes >= 512 || (bytes >= 256 && program_.bytes >= 16384);
  is_aligned ? writer_.write_aligned_block(from, to, bytes) : writer_.write_block(from, to, bytes);
}

void Emitter::emit_list(const Step& step, std::int64_t from, std::int64_t to) {
  if (step.offsets.size() > max_entries_unrolled) {
    emit_list_loop(step, from, to);
    return;
  }
  std::int64_t packed = 0;
  for (std::size_t i = 0; i < step.offsets.size(); ++i) {
    const std::int64_t apart = step.offsets[i];
    const std::int64_t bytes = step.work.block > 0 ? step.work.block : step.positions[i + 1] - packed;
    emit_block(from + (program_.is_pack ? apart : packed), to + (program_.is_pack ? packed : apart), bytes);
    packed += bytes;
  }
}

/// Equal blocks: rcx walks the offsets, rdi and rsi the two sides; the contiguous one advances.
void Emitter::emit_list_loop(const Step& step, std::int64_t from, std::int64_t to) {
  constexpr std::int64_t unrolled = 8;
  const std::int64_t block = step.work.block;
  const auto count = static_cast<std::int64_t>(step.offsets.size());
  const x86::Gp packed = program_.is_pack ? x86::rsi : x86::rdi;
  writer_.write_address(x86::rdi, x86::rbx, from);
  writer_.write_address(x86::rsi, x86::rbp, to);
  code_.mov(x86::rcx, reinterpret_cast<std::uintptr_t>(step.work.offsets));
  const bool asks = is_far();
  const auto emit_some = [&](std::int64_t blocks, bool asks_ahead) {
    for (std::int64_t i = 0; i < blocks; ++i) {
      if (asks_ahead) {
        code_.mov(x86::r11d, x86::dword_ptr(x86::rcx, static_cast<std::int32_t>(4 * (i + lines_ahead))));
        program_.is_pack ? code_.prefetcht0(x86::ptr(x86::rdi, x86::r11))
                         : code_.prefetchw(x86::ptr(x86::rsi, x86::r11));
      }
      const Gp apart = i % 2 == 0 ? x86::rax : x86::r10;
      code_.mov(apart.r32(), x86::dword_ptr(x86::rcx, static_cast<std::int32_t>(4 * i)));
      const auto in_packed = static_cast<std::int32_t>(i * block);
      writer_.write_moves(program_.is_pack ? x86::ptr(x86::rsi, in_packed) : x86::ptr(x86::rsi, apart),
                          program_.is_pack ? x86::ptr(x86::rdi, apart) : x86::ptr(x86::rdi, in_packed), block);
    }
  };
  const auto emit_loop = [&](std::int64_t turns, bool asks_ahead) {
    if (turns == 0) {
      return;
    }
    code_.mov(x86::rdx, turns);
    const asmjit::Label top = code_.newLabel();
    code_.align(asmjit::AlignMode::kCode, 16);
    code_.bind(top);
    emit_some(unrolled, asks_ahead);
    code_.add(x86::rcx, 4 * unrolled);
    writer_.write_add(packed, unrolled * block);
    code_.dec(x86::rdx);
    code_.jnz(top);
  };
  const std::int64_t turns = count / unrolled;
  const std::int64_t turns_ahead = asks ? std::max<std::int64_t>(0, (count - lines_ahead) / unrolled) : 0;
  emit_loop(turns_ahead, true);
  emit_loop(turns - turns_ahead, false);
  emit_some(count % unrolled, false);
}

void Emitter::emit_call(const Step& step, std::int64_t from, std::int64_t to) {
  writer_.write_address(x86::rdi, x86::rbx, from);
  writer_.write_address(x86::rsi, x86::rbp, to);
  code_.mov(x86::rdx, reinterpret_cast<std::uintptr_t>(&step.work));
  code_.mov(x86::rax, reinterpret_cast<std::uintptr_t>(step.kernel));
  code_.call(x86::rax);
}

void Emitter::emit_memcpy(std::int64_t from, std::int64_t to, std::int64_t bytes) {
  writer_.write_address(x86::rsi, x86::rbx, from);
  writer_.write_address(x86::rdi, x86::rbp, to);
  code_.mov(x86::rdx, bytes);
  code_.mov(x86::rax,
            reinterpret_cast<std::uintptr_t>(static_cast<void* (*)(void*, const void*, std::size_t)>(std::memcpy)));
  code_.call(x86::rax);
}

void Emitter::emit_prefetch(std::int64_t from, std::int64_t to, std::int64_t bytes) {
  const Gp base = prefetch_.is_source ? x86::rbx : x86::rbp;
  const std::int64_t offset = (prefetch_.is_source ? from : to) + prefetch_.distance;
  if (!fits_in_32_bits(offset) || !fits_in_32_bits(offset + bytes)) {
    return;
  }
  const auto ask = [&](std::int64_t byte) {
    const x86::Mem line = x86::ptr(base, static_cast<std::int32_t>(offset + byte));
    prefetch_.is_source ? code_.prefetcht0(line) : code_.prefetchw(line);
  };
  for (std::int64_t done = 0; done < bytes; done += 64) {
    ask(done);
  }
  if (bytes > 16 && bytes % 64 != 0) {
    ask(bytes - 1);  // where the block does not begin with a line, its end may lie in one more
  }
}

}  // namespace penstock::mover

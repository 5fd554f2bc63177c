#include "penstock/mover/writer_x86.hpp"

#include <algorithm>
#include <bit>
#include <limits>

namespace penstock::mover {
namespace {

namespace x86 = asmjit::x86;

}  // namespace

bool fits_in_32_bits(std::int64_t value) noexcept {
  return value >= std::numeric_limits<std::int32_t>::min() && value <= std::numeric_limits<std::int32_t>::max();
}

void Writer::write_address(const Gp& target, const Gp& base, std::int64_t offset) {
  if (fits_in_32_bits(offset)) {
    code.lea(target, x86::ptr(base, static_cast<std::int32_t>(offset)));
  } else {
    code.mov(target, offset);
    code.add(target, base);
  }
}

void Writer::write_add(const Gp& target, std::int64_t value) {
  if (fits_in_32_bits(value)) {
    if (value != 0) {
      code.add(target, static_cast<std::int32_t>(value));
    }
  } else {
    code.mov(x86::rax, value);
    code.add(target, x86::rax);
  }
}

/// `base` + `offset`, by way of `spare` where that is too far for an instruction's own offset.
x86::Mem Writer::address_of(const Gp& base, const Gp& spare, std::int64_t offset, std::int64_t bytes) {
  if (fits_in_32_bits(offset) && fits_in_32_bits(offset + bytes)) {
    return x86::ptr(base, static_cast<std::int32_t>(offset));
  }
  code.mov(spare, offset);
  return x86::ptr(base, spare);
}

void Writer::write_block(std::int64_t from, std::int64_t to, std::int64_t bytes) {
  write_moves(address_of(x86::rbp, x86::r11, to, bytes), address_of(x86::rbx, x86::r10, from, bytes), bytes);
}

// A store that crosses a line costs two, a load less: so that what lies between one vector at the beginning and two at
// the end goes to aligned places. How many vectors that are does not depend on the address. Rows of 256 bytes at odd
// places were moved half as fast again (EPYC 9005, November 2026).
void Writer::write_aligned_block(std::int64_t from, std::int64_t to, std::int64_t bytes) {
  write_address(x86::r10, x86::rbx, from);
  write_address(x86::r11, x86::rbp, to);
  constexpr std::int64_t unrolled = 8;
  const std::int64_t width = widest();
  const std::int64_t vectors = (bytes - (width - 1)) / width;
  write_moves(x86::ptr(x86::r11), x86::ptr(x86::r10), width);
  code.mov(x86::rax, x86::r11);
  code.neg(x86::rax);
  code.and_(x86::rax, static_cast<std::int32_t>(width - 1));
  code.add(x86::r10, x86::rax);
  code.add(x86::r11, x86::rax);
  if (vectors >= 2 * unrolled) {
    code.mov(x86::rax, vectors / unrolled);
    const asmjit::Label top = code.newLabel();
    code.align(asmjit::AlignMode::kCode, 16);
    code.bind(top);
    write_moves(x86::ptr(x86::r11), x86::ptr(x86::r10), unrolled * width);
    code.add(x86::r10, static_cast<std::int32_t>(unrolled * width));
    code.add(x86::r11, static_cast<std::int32_t>(unrolled * width));
    code.dec(x86::rax);
    code.jnz(top);
  }
  const std::int64_t left = vectors >= 2 * unrolled ? vectors % unrolled : vectors;
  if (left > 0) {
    write_moves(x86::ptr(x86::r11), x86::ptr(x86::r10), left * width);
  }
  const std::int64_t end = bytes - 2 * width;
  write_moves(address_of(x86::rbp, x86::r11, to + end, 2 * width),
              address_of(x86::rbx, x86::r10, from + end, 2 * width), 2 * width);
}

void Writer::write_by_string(std::int64_t from, std::int64_t to, std::int64_t bytes) {
  write_address(x86::rsi, x86::rbx, from);
  write_address(x86::rdi, x86::rbp, to);
  code.mov(x86::rcx, bytes);
  code.rep().movs(x86::byte_ptr(x86::rdi), x86::byte_ptr(x86::rsi));
}

/// By the widest moves. What is then left goes by the power of two that reaches its end, overlapping what was copied;
/// of less than one such move, by two that meet or overlap. Vectors are loaded by fours before they are stored.
void Writer::write_moves(const Mem& to, const Mem& from, std::int64_t bytes) {
  const std::int64_t width_most = widest();
  std::int64_t done = 0;
  for (; bytes - done >= 4 * width_most; done += 4 * width_most) {
    for (std::uint32_t i = 0; i < 4; ++i) {
      write_vector(true, from.cloneAdjusted(done + i * width_most), i, width_most);
    }
    for (std::uint32_t i = 0; i < 4; ++i) {
      write_vector(false, to.cloneAdjusted(done + i * width_most), i, width_most);
    }
  }
  while (done < bytes) {
    const auto left = static_cast<std::uint64_t>(bytes - done);
    const auto reaching = static_cast<std::int64_t>(std::bit_ceil(left));
    auto width = std::min(static_cast<std::int64_t>(std::bit_floor(left)), width_most);
    if (reaching <= std::min(width_most, bytes)) {
      width = reaching;
      done = bytes - width;
    }
    write_move(to.cloneAdjusted(done), from.cloneAdjusted(done), width);
    done += width;
  }
}

void Writer::write_move(Mem to, Mem from, std::int64_t bytes) {
  next_ = (next_ + 1) % 8;
  const Gp general = next_ % 2 == 0 ? x86::r8 : x86::r9;
  to.setSize(static_cast<std::uint32_t>(bytes));
  from.setSize(static_cast<std::uint32_t>(bytes));
  if (bytes <= 2) {
    code.movzx(general.r32(), from);
    bytes == 1 ? code.mov(to, general.r8()) : code.mov(to, general.r16());
  } else if (bytes == 4) {
    code.mov(general.r32(), from);
    code.mov(to, general.r32());
  } else if (bytes == 8) {
    code.mov(general, from);
    code.mov(to, general);
  } else {
    write_vector(true, from, 4 + next_ % 4, bytes);
    write_vector(false, to, 4 + next_ % 4, bytes);
  }
}

void Writer::write_vector(bool is_load, const Mem& memory, std::uint32_t number, std::int64_t bytes) {
  const std::uint32_t id = set_ == InstructionSet::avx512 ? 16 + number : number;
  const x86::Vec vector = bytes == 64   ? x86::Vec(x86::zmm(id))
                          : bytes == 32 ? x86::Vec(x86::ymm(id))
                                        : x86::Vec(x86::xmm(id));
  const asmjit::InstId instruction = set_ == InstructionSet::avx512 ? x86::Inst::kIdVmovdqu64
                                     : set_ == InstructionSet::avx2 ? x86::Inst::kIdVmovdqu
                                                                    : x86::Inst::kIdMovups;
  if (is_load) {
    code.emit(instruction, vector, memory);
  } else {
    code.emit(instruction, memory, vector);
  }
}

}  // namespace penstock::mover

// Writes single moves as instructions of x86-64, by the widest vectors of an instruction set. Private to the module.
#pragma once

#include <asmjit/core.h>
#include <asmjit/x86.h>

#include <cstdint>

#include "penstock/mover/kernels.hpp"

namespace penstock::mover {

bool fits_in_32_bits(std::int64_t value) noexcept;

/// Takes the source of a copy to be in rbx and its destination in rbp; uses rax, r8 to r11 and eight vectors: 16 to 23
/// where there are so many, which need no vzeroupper, else 0 to 7.
class Writer {
 public:
  using Gp = asmjit::x86::Gp;
  using Mem = asmjit::x86::Mem;

  Writer(asmjit::CodeHolder& holder, InstructionSet set) : code(&holder), set_(set) {}

  /// For what is written beside moves.
  asmjit::x86::Assembler code;

  /// target = base + offset.
  void write_address(const Gp& target, const Gp& base, std::int64_t offset);
  /// target += value.
  void write_add(const Gp& target, std::int64_t value);
  /// Copies `bytes` bytes, 1 or more, from rbx + `from` to rbp + `to`, written out.
  void write_block(std::int64_t from, std::int64_t to, std::int64_t bytes);
  /// The same for 256 bytes and more, by aligned stores, in a loop where they are many.
  void write_aligned_block(std::int64_t from, std::int64_t to, std::int64_t bytes);
  /// The same by the string instruction, which takes rcx, rsi and rdi.
  void write_by_string(std::int64_t from, std::int64_t to, std::int64_t bytes);
  /// As write_block, from and to any place.
  void write_moves(const Mem& to, const Mem& from, std::int64_t bytes);

 private:
  /// Bytes of the widest vectors.
  std::int64_t widest() const { return set_ == InstructionSet::avx512 ? 64 : set_ == InstructionSet::avx2 ? 32 : 16; }
  Mem address_of(const Gp& base, const Gp& spare, std::int64_t offset, std::int64_t bytes);
  void write_move(Mem to, Mem from, std::int64_t bytes);
  void write_vector(bool is_load, const Mem& memory, std::uint32_t number, std::int64_t bytes);

  InstructionSet set_;
  std::uint32_t next_ = 0;
};

}  // namespace penstock::mover

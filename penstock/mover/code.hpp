// Machine code for a copy, made at run time. Private to the module.
#pragma once

#include <cstddef>
#include <optional>
#include <utility>

#include "penstock/mover/kernels.hpp"
#include "penstock/mover/program.hpp"

namespace penstock::mover {

/// A function in memory pages of its own, which were written and then sealed: at no time are they writable and
/// executable at once.
class MachineCode {
 public:
  /// Owns `bytes` bytes of pages that begin at `pages`, where the function begins as well.
  MachineCode(void* pages, std::size_t bytes) noexcept : pages_(pages), bytes_(bytes) {}
  MachineCode(MachineCode&& other) noexcept
      : pages_(std::exchange(other.pages_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  MachineCode& operator=(MachineCode&& other) noexcept {
    std::swap(pages_, other.pages_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~MachineCode();

  Move function() const noexcept { return reinterpret_cast<Move>(pages_); }

 private:
  void* pages_;
  std::size_t bytes_;
};

/// Whether machine code is faster than the steps run one by one: for small blocks and short lists, whose loops it
/// unrolls, not for what its kernels spend their time in.
bool is_worth_code(const Mover::Program& program) noexcept;

/// The program as machine code for this processor, which refers to the program; nothing where this build has no
/// compiler for it, or where the system gives no executable memory.
std::optional<MachineCode> make_code(const Mover::Program& program) noexcept;

}  // namespace penstock::mover

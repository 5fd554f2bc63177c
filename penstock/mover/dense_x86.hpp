// Writes loops over small elements whose stride is a few times their size: whole vectors are read or written, and
// shuffled. Private to the module.
#pragma once

#include <asmjit/core.h>
#include <asmjit/x86.h>

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "penstock/mover/kernels.hpp"

namespace penstock::mover {

/// A loop over elements of which one side lies one after the other, and on the other side each `spread`-th place of
/// that size is taken.
struct DenseLoop {
  std::int64_t element = 0;  ///< bytes: 1, 2, 4 or 8
  std::int64_t spread = 0;   ///< 2 to 4
  bool is_pack = false;      ///< whether the destination is the one without gaps
  bool is_far = false;       ///< whether a destination with gaps is not in cache
  bool is_narrow = false;    ///< by vectors of 32 bytes: elements of 4 or 8 bytes out of every second place

  /// So many elements are a vector; a loop of fewer is none for this.
  std::int64_t elements() const noexcept { return 64 / element; }
};

/// The loop over elements of `element` bytes as one of these; with a spread of 0 where it is none, or where the
/// processor has not the instructions.
DenseLoop find_dense_loop(std::int64_t element, const JointLevel& loop, InstructionSet set) noexcept;

class DenseWriter {
 public:
  explicit DenseWriter(asmjit::x86::Assembler& code) : code_(code) {}

  /// Moves `vectors` times `elements()` elements, at least one vector, from r10 to r11, which it advances with rax as
  /// its counter. Touches nothing beyond the first place after the last element's own `spread` places: that must be the
  /// beginning of a further element, or be known to exist.
  void write(const DenseLoop& loop, std::int64_t vectors);

  /// Puts down the constants. After the function's end.
  void finish();

 private:
  using Lanes = std::array<std::uint8_t, 64>;

  void write_pack(const DenseLoop& loop);
  void write_narrow_pack(const DenseLoop& loop);
  void write_constants(const DenseLoop& loop);
  void write_unpack(const DenseLoop& loop);
  asmjit::x86::Mem constant(const Lanes& lanes);

  asmjit::x86::Assembler& code_;
  std::vector<std::pair<asmjit::Label, Lanes>> constants_;
};

}  // namespace penstock::mover

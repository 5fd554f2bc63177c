// A compiled copy: loops over a kernel, and the choice of both. Private to the module.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "penstock/layout/layout.hpp"
#include "penstock/mover/joint.hpp"
#include "penstock/mover/kernels.hpp"
#include "penstock/mover/mover.hpp"

namespace penstock::mover {

struct Mover::Program {
  std::int64_t bytes = 0;
  /// Null where the copy is too irregular for a list: then the two layouts are walked side by side.
  Kernel kernel = nullptr;
  Work work;
  std::int64_t source_offset = 0;
  std::int64_t destination_offset = 0;
  /// Outermost first.
  std::vector<JointLevel> loops;
  std::vector<Piece> pieces;
  layout::Layout source;
  layout::Layout destination;
  std::string description;

  void run(const std::byte* from, std::byte* to) const noexcept;
};

/// Compiles for the instruction set given, which must be usable, and not for the best: for tests.
Mover compile_for(InstructionSet set, const layout::Layout& source, const layout::Layout& destination, Hint hint);

}  // namespace penstock::mover

// A compiled copy: steps, each of them loops over a kernel, and the functions that run steps. Private to the module.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "penstock/layout/layout.hpp"
#include "penstock/mover/joint.hpp"
#include "penstock/mover/kernels.hpp"
#include "penstock/mover/mover.hpp"

namespace penstock::mover {

/// Loops over a kernel, or over further steps that run one after the other.
struct Step {
  /// In the order of the layouts' bytes, outermost first, where one side is contiguous; else in any order.
  std::vector<JointLevel> levels;
  /// Inside the innermost level.
  std::int64_t bytes_inside = 0;
  std::int64_t source_offset = 0;
  std::int64_t destination_offset = 0;

  /// Where there are no further steps.
  Kernel kernel = nullptr;
  /// Whether it does what machine code leaves to it: stores that bypass the cache, copies by string instruction, long
  /// rows from memory.
  bool is_kernel_special = false;
  Work work;
  /// Which of the levels the kernel walks (its `inner`, its `outer`), -1 for none, and in which order, outermost first,
  /// the rest are loops around it.
  int inner = -1;
  int outer = -1;
  std::vector<int> order;
  /// What `work` refers to.
  std::vector<Piece> pieces;
  std::vector<std::uint32_t> offsets;
  std::vector<std::uint32_t> positions;

  std::vector<Step> steps;

  std::int64_t bytes() const noexcept;
};

/// How machine code does what the processor decides: which one is faster differs between processors, so that uses try
/// them (docs/decisions/movers.md).
enum class Style {
  ruled,     ///< prefetches, bypasses the cache and shuffles as the hint and the sizes tell
  asking,    ///< prefetches whatever the hint
  unasking,  ///< leaves prefetching to the processor
  plain,     ///< a programmer's loops: also ordinary stores, blocks by short moves, long rows by the system's memcpy
};
inline constexpr std::array styles{Style::ruled, Style::asking, Style::unasking, Style::plain};

struct Mover::Program {
  std::int64_t bytes = 0;
  Hint hint = Hint::reuse;
  /// Whether one side is contiguous, so that the steps' levels and lists are in the order of its bytes.
  bool is_packing = false;
  /// Of a packing: whether that side is the destination.
  bool is_pack = false;
  /// Where the copy is too irregular for a list there are no steps: the two layouts are walked side by side. They are
  /// kept for that, and for parts of a copy that is not a packing.
  bool has_steps = true;
  Step root;
  layout::Layout source;
  layout::Layout destination;
  InstructionSet set = InstructionSet::portable;
};

/// Plans the steps of a copy between two layouts of equally many bytes, at least one, for the hint and the instruction
/// set that the program has been given.
void plan_steps(Mover::Program& program, const layout::Layout& source, const layout::Layout& destination);

void run(const Mover::Program& program, const std::byte* from, std::byte* to) noexcept;
void run_part(const Mover::Program& program, const std::byte* from, std::byte* to, std::int64_t first,
              std::int64_t last) noexcept;

std::string describe(const Mover::Program& program);

/// Compiles for the instruction set given, which must be usable, and not for the best: for tests.
Mover compile_for(InstructionSet set, const layout::Layout& source, const layout::Layout& destination, Hint hint,
                  Code code);

}  // namespace penstock::mover

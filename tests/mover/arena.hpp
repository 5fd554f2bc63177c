// A source and a destination filled with known bytes, and the copy between them by the definition, for tests of movers.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "penstock/mover/code.hpp"
#include "penstock/mover/mover.hpp"
#include "penstock/mover/program.hpp"

namespace penstock::mover {

inline std::vector<std::int64_t> bytes_of(const layout::Layout& layout) {
  std::vector<std::int64_t> bytes;
  for (layout::RunWalk walk(layout); !walk.is_done(); walk.next()) {
    for (std::int64_t i = 0; i < walk.run().bytes; ++i) {
      bytes.push_back(walk.run().offset + i);
    }
  }
  return bytes;
}

/// Memory for every byte that a layout names, with a guard before and after, at a chosen distance from a cache line.
class Arena {
 public:
  Arena(const layout::Layout& layout, std::int64_t misalignment)
      : memory_(static_cast<std::size_t>(layout.upper_bound() - layout.lower_bound() + 2 * guard + 2 * line_bytes)) {
    const auto address = reinterpret_cast<std::uintptr_t>(memory_.data() + guard);
    const auto to_line = static_cast<std::int64_t>(-(address - static_cast<std::uintptr_t>(layout.lower_bound())) % 64);
    origin_ = guard - layout.lower_bound() + (to_line + misalignment) % 64;
  }

  std::vector<std::byte>& memory() { return memory_; }
  std::byte* origin() { return memory_.data() + origin_; }
  std::byte& at(std::int64_t offset) { return memory_[static_cast<std::size_t>(origin_ + offset)]; }

 private:
  static constexpr std::int64_t guard = 256;
  std::vector<std::byte> memory_;
  std::int64_t origin_ = 0;
};

/// Runs the copy as machine code in every style, also those that uses would not try on so few bytes.
inline void expect_same_in_all_styles(InstructionSet set, const layout::Layout& source,
                                      const layout::Layout& destination, Hint hint, Arena& from, Arena& to,
                                      const std::vector<std::byte>& moved) {
  Mover::Program program;
  program.bytes = source.bytes();
  program.hint = hint;
  program.set = set;
  if (program.bytes == 0) {
    return;
  }
  plan_steps(program, source, destination);
  if (!is_worth_code(program)) {
    return;
  }
  for (const StyledCode& candidate : make_code(program, styles)) {
    std::ranges::fill(to.memory(), std::byte{0xa5});
    candidate.move()(from.origin(), to.origin());
    finish_streaming();
    EXPECT_TRUE(moved == to.memory()) << "style " << static_cast<int>(candidate.style) << ": " << describe(program);
  }
}

/// Compiles and runs the copy with every usable instruction set and both hints, in every style, at random addresses,
/// and compares all memory with a copy byte by byte. The program's descriptions are returned, one a line.
template <class Random>
std::string expect_copies(const layout::Layout& source, const layout::Layout& destination, Random& random) {
  const std::vector<std::int64_t> from_bytes = bytes_of(source);
  const std::vector<std::int64_t> to_bytes = bytes_of(destination);
  std::string descriptions;
  for (const InstructionSet set : instruction_sets) {
    if (!is_usable(set)) {
      continue;
    }
    for (const auto& [hint, code] : {std::pair{Hint::reuse, Code::never}, std::pair{Hint::streaming, Code::never},
                                     std::pair{Hint::reuse, Code::at_once}}) {
      // Most often the alignments that kernels single out, now and then any.
      const std::int64_t unit = std::uniform_int_distribution<int>(0, 3)(random) == 0 ? 1 : 8;
      std::uniform_int_distribution<std::int64_t> place(0, 63);
      Arena from(source, place(random) / unit * unit);
      Arena to(destination, std::uniform_int_distribution<int>(0, 1)(random) == 0 ? 0 : place(random) / unit * unit);
      std::uniform_int_distribution<int> any_byte(0, 255);
      for (std::byte& byte : from.memory()) {
        byte = static_cast<std::byte>(any_byte(random));
      }
      std::ranges::fill(to.memory(), std::byte{0xa5});
      const Mover mover = compile_for(set, source, destination, hint, code);
      mover(from.origin(), to.origin());
      finish_streaming();
      const std::vector<std::byte> moved = to.memory();
      std::ranges::fill(to.memory(), std::byte{0xa5});
      for (std::int64_t first = 0; first < mover.bytes();) {
        const std::int64_t most = std::uniform_int_distribution<int>(0, 3)(random) == 0 ? 20 : mover.bytes();
        const std::int64_t last =
            std::min(mover.bytes(), first + std::uniform_int_distribution<std::int64_t>(0, most)(random));
        mover.move_part(from.origin(), to.origin(), first, last);
        first = last;
      }
      finish_streaming();
      EXPECT_TRUE(moved == to.memory()) << "in parts: " << mover.describe();
      std::ranges::fill(to.memory(), std::byte{0xa5});
      for (std::size_t i = 0; i < from_bytes.size(); ++i) {
        to.at(to_bytes[i]) = from.at(from_bytes[i]);
      }
      EXPECT_TRUE(moved == to.memory()) << mover.describe();
      expect_same_in_all_styles(set, source, destination, hint, from, to, moved);
      descriptions += mover.describe() + "\n";
    }
  }
  return descriptions;
}

}  // namespace penstock::mover

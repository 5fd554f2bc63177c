// The loops that a programmer writes instead of an MPI datatype, to be measured against: typed, with run-time extents
// and strides, compiled at -O3 for several instruction sets.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace penstock::lab {

enum class HandShape {
  run,       ///< one contiguous run of `run` elements
  nest,      ///< up to four loops around a run of `run` elements
  elements,  ///< one or two loops, the innermost over single elements
  listed,    ///< out[i] = in[index[i]], or the same of vectors of three
  blocks,    ///< `lengths[i]` elements from index[i]
};
enum class HandType { float32, float64, complex128 };

/// What one loop nest moves: all sizes and strides in elements.
struct HandLoop {
  HandShape shape = HandShape::run;
  HandType type = HandType::float64;
  std::int64_t array_offset = 0;   ///< bytes, from the array's start
  std::int64_t packed_offset = 0;  ///< bytes, from the packed message's start
  int depth = 0;                   ///< loops around the run or the elements
  std::array<std::int64_t, 4> extent{};
  std::array<std::int64_t, 4> stride{};
  std::int64_t run = 1;      ///< elements of a run; of a listed vector, 1 or 3
  std::vector<int> index{};  ///< of elements or vectors (listed), of elements (blocks)
  std::vector<int> lengths{};
};

/// One loop nest as compiled.
using HandPack = void (*)(const HandLoop& loop, const std::byte* array, std::byte* packed);
using HandUnpack = void (*)(const HandLoop& loop, const std::byte* packed, std::byte* array);

struct HandCode {
  HandPack pack;
  HandUnpack unpack;
};

/// The code of a loop nest, for the best instruction set of this processor. Throws nothing; thread-safe.
HandCode hand_code(const HandLoop& loop) noexcept;

/// The instruction set that `hand_code` chooses: what -march=native would have meant for these loops.
const char* hand_instruction_set() noexcept;

}  // namespace penstock::lab

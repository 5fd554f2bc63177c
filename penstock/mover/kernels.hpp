// The kernels that movers call: written ahead of time, a table of them for each instruction set. Private to the module.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "penstock/base/processor.hpp"
#include "penstock/mover/joint.hpp"

namespace penstock::mover {

/// A cache line of the destination, as far as stores that bypass the cache are concerned.
inline constexpr std::int64_t line_bytes = 64;

/// What one call of a kernel does; which fields count is said by the kernel.
struct Work {
  /// Bytes of a block (rows, an index list of equal blocks) or of an element (transposition).
  std::int64_t block = 0;
  bool is_transposition = false;
  /// Rows: the inner loop and the one around it. Transposition: `inner` steps by one element in the source, `outer` by
  /// one element in the destination.
  JointLevel inner{1, 0, 0};
  JointLevel outer{1, 0, 0};
  /// The list, for the kernel that copies one: a pointer and a count, since the members of std::span are inline
  /// functions that a kernel's file would compile for its own processor and the linker might keep for all.
  const Piece* pieces = nullptr;
  std::size_t piece_count = 0;
  /// An index list of `entry_count` blocks: entry i lies offsets[i] bytes from the side that is not contiguous. In the
  /// contiguous one equal blocks of `block` bytes lie one after the other; blocks of any lengths (block is 0) reach
  /// from positions[i] to positions[i + 1].
  const std::uint32_t* offsets = nullptr;
  const std::uint32_t* positions = nullptr;
  std::size_t entry_count = 0;
};

/// A whole copy.
using Move = void (*)(const std::byte* source, std::byte* destination) noexcept;
using Kernel = void (*)(const std::byte* source, std::byte* destination, const Work& work) noexcept;

/// The sizes of blocks for which `copy_rows` has a kernel of its own.
inline constexpr std::array<std::int64_t, 7> fixed_blocks{4, 8, 16, 32, 64, 128, 256};
/// The least block that `copy_long_rows` is for: shorter ones are faster through vectors (EPYC 9005, November 2026).
inline constexpr std::int64_t long_block = 4096;
/// From here on a block is worth a call of the system's memcpy, which knows the processor.
inline constexpr std::int64_t memcpy_block = 512;
/// The sizes of blocks for which index lists have kernels of their own.
inline constexpr std::array<std::int64_t, 8> listed_blocks{4, 8, 12, 16, 24, 32, 48, 64};
/// The sizes of elements that are transposed.
inline constexpr std::array<std::int64_t, 3> transposed_elements{4, 8, 16};

/// One instruction set's kernels. Those that stream use stores that bypass the cache for whole lines of 64 bytes of the
/// destination and ordinary stores for the rest; any address is correct.
struct Kernels {
  const char* name;
  /// Copies inner.extent x outer.extent blocks, each of the size of its place in `fixed_blocks`.
  std::array<Kernel, fixed_blocks.size()> copy_fixed_rows;
  /// The same for blocks of any size.
  Kernel copy_rows;
  /// The same for blocks of `long_block` and more, where `has_fast_strings()`.
  Kernel copy_long_rows;
  /// The same, streaming.
  Kernel stream_rows;
  /// Streams blocks that lie one after another in the destination (inner.destination_stride == block <= 512).
  Kernel stream_gathered_rows;
  std::array<Kernel, transposed_elements.size()> transpose;
  /// The same, asking for the source ahead.
  std::array<Kernel, transposed_elements.size()> transpose_from_memory;
  std::array<Kernel, transposed_elements.size()> stream_transposed;
  /// Lists of pieces.
  Kernel copy_list;
  Kernel stream_list;
  /// Index lists: from the entries' places to contiguous memory, and the other way. Equal blocks by their place in
  /// `listed_blocks`, and blocks of any lengths.
  std::array<Kernel, listed_blocks.size()> gather_equal_entries;
  std::array<Kernel, listed_blocks.size()> scatter_equal_entries;
  Kernel gather_entries;
  Kernel scatter_entries;
};

/// Whether this processor copies fast by string instruction (x86-64: "enhanced rep movsb").
bool has_fast_strings() noexcept;
/// The kernels of a usable set.
const Kernels& kernels_of(InstructionSet set) noexcept;

/// Copies one block of any size by the system's memcpy.
void copy_one_block(const std::byte* source, std::byte* destination, const Work& work) noexcept;

extern const Kernels portable_kernels;
extern const Kernels avx2_kernels;
extern const Kernels avx512_kernels;

}  // namespace penstock::mover

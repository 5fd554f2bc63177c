// The kernels in plain C++, for processors without a set of their own: squares of 4 x 4 elements of fixed size, which
// compilers turn into the vector loads and stores that every 64-bit processor has. They do not bypass the cache.
#include "penstock/mover/kernel_table.hpp"

namespace penstock::mover {
namespace {

struct Vector {
  struct Block {
    std::byte content[16];
  };
  static constexpr std::int64_t bytes = sizeof(Block);
  using ForEntries = Vector;
  template <std::int64_t E>
  static constexpr std::int64_t width = 4;

  static Block load(const std::byte* from) {
    Block block;
    __builtin_memcpy(&block, from, sizeof(block));
    return block;
  }
  static void store(std::byte* to, const Block& block) { __builtin_memcpy(to, &block, sizeof(block)); }
  static void stream(std::byte* to, const Block& block) { store(to, block); }
  static void copy_part(std::byte* to, const std::byte* from, std::int64_t count) {
    __builtin_memcpy(to, from, static_cast<std::size_t>(count));
  }
  static void stream_part(std::byte* to, const std::byte* from, std::int64_t count) { copy_part(to, from, count); }
  static void copy_long(std::byte* to, const std::byte* from, std::int64_t count) { copy_part(to, from, count); }

  template <std::int64_t E, bool is_streaming>
  static void transpose(const std::byte* from, std::int64_t from_pitch, std::byte* to, std::int64_t to_pitch) {
    for (std::int64_t p = 0; p < 4; ++p) {
      for (std::int64_t q = 0; q < 4; ++q) {
        __builtin_memcpy(to + p * to_pitch + q * E, from + p * E + q * from_pitch, E);
      }
    }
  }

  template <std::int64_t E, bool is_streaming>
  static void transpose_part(const std::byte* from, std::int64_t from_pitch, std::byte* to, std::int64_t to_pitch,
                             std::int64_t ps, std::int64_t qs) {
    for (std::int64_t p = 0; p < ps; ++p) {
      for (std::int64_t q = 0; q < qs; ++q) {
        __builtin_memcpy(to + p * to_pitch + q * E, from + p * E + q * from_pitch, E);
      }
    }
  }
};

}  // namespace

constinit const Kernels portable_kernels = make_kernels<Vector>("portable");

}  // namespace penstock::mover

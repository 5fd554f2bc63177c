// The bodies of the hand-written loops, compiled once per instruction set: the including file names PENSTOCK_HAND_SET.
// A short run is copied by a loop and a long one by memcpy, which is the faster of the two ways to write each
// (measured with GCC 12 on Zen 5: a memcpy of 8 bytes has a third of the loop's speed, from 512 bytes on they are
// equal).
#pragma once

#include <complex>
#include <cstring>

#include "penstock/lab/pack/pack_hand.hpp"

namespace penstock::lab::PENSTOCK_HAND_SET {

// Runs of this many elements and more go through memcpy.
inline constexpr std::int64_t long_run = 64;

/// Which way a loop goes: the packed side runs on element by element.
template <class T>
struct Packing {
  using Array = const T*;
  using Packed = T*;
  static void move(Array array, Packed packed) { *packed = *array; }
  static void move(Array array, Packed packed, std::int64_t count) {
    std::memcpy(static_cast<void*>(packed), array, static_cast<std::size_t>(count) * sizeof(T));
  }
};
template <class T>
struct Unpacking {
  using Array = T*;
  using Packed = const T*;
  static void move(Array array, Packed packed) { *array = *packed; }
  static void move(Array array, Packed packed, std::int64_t count) {
    std::memcpy(static_cast<void*>(array), packed, static_cast<std::size_t>(count) * sizeof(T));
  }
};

template <class Copy>
void move_run(const HandLoop& loop, typename Copy::Array array, typename Copy::Packed packed) {
  Copy::move(array, packed, loop.run);
}

template <class Copy>
void move_row(const HandLoop& loop, typename Copy::Array array, typename Copy::Packed packed) {
  const std::int64_t n = loop.extent[0];
  const std::int64_t stride = loop.stride[0];
  for (std::int64_t i = 0; i < n; ++i) {
    Copy::move(array + i * stride, packed + i);
  }
}

template <class Copy>
void move_plane(const HandLoop& loop, typename Copy::Array array, typename Copy::Packed packed) {
  const auto [rows, columns] = std::array{loop.extent[0], loop.extent[1]};
  const auto [row_stride, column_stride] = std::array{loop.stride[0], loop.stride[1]};
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < columns; ++j) {
      Copy::move(array + i * row_stride + j * column_stride, packed + i * columns + j);
    }
  }
}

/// The loops from `level` inwards, inlined into one nest; returns where the packed side has come to.
template <class Copy, int level, int depth, bool is_long>
[[gnu::always_inline]] inline typename Copy::Packed move_levels(const std::array<std::int64_t, 4>& extent,
                                                                const std::array<std::int64_t, 4>& stride,
                                                                std::int64_t run, typename Copy::Array array,
                                                                typename Copy::Packed packed) {
  if constexpr (level < depth) {
    for (std::int64_t i = 0; i < extent[level]; ++i) {
      packed = move_levels<Copy, level + 1, depth, is_long>(extent, stride, run, array + i * stride[level], packed);
    }
  } else if constexpr (is_long) {
    Copy::move(array, packed, run);
    packed += run;
  } else {
    for (std::int64_t k = 0; k < run; ++k) {
      Copy::move(array + k, packed++);
    }
  }
  return packed;
}

template <class Copy, int depth>
void move_nest(const HandLoop& loop, typename Copy::Array array, typename Copy::Packed packed) {
  // In variables of the loop's own, so that they stay in registers.
  const std::array extent = loop.extent;
  const std::array stride = loop.stride;
  const std::int64_t run = loop.run;
  if (run < long_run) {
    move_levels<Copy, 0, depth, false>(extent, stride, run, array, packed);
  } else {
    move_levels<Copy, 0, depth, true>(extent, stride, run, array, packed);
  }
}

template <class Copy, int components>
void move_listed(const HandLoop& loop, typename Copy::Array array, typename Copy::Packed packed) {
  const int* index = loop.index.data();
  const auto n = static_cast<std::int64_t>(loop.index.size());
  for (std::int64_t i = 0; i < n; ++i) {
    for (int k = 0; k < components; ++k) {
      Copy::move(array + std::int64_t{components} * index[i] + k, packed + components * i + k);
    }
  }
}

template <class Copy>
void move_blocks(const HandLoop& loop, typename Copy::Array array, typename Copy::Packed packed) {
  const int* index = loop.index.data();
  const int* lengths = loop.lengths.data();
  const auto n = static_cast<std::int64_t>(loop.index.size());
  for (std::int64_t i = 0; i < n; ++i) {
    const int length = lengths[i];
    for (int k = 0; k < length; ++k) {
      Copy::move(array + index[i] + k, packed++);
    }
  }
}

/// The body that a loop asks for, both ways, with its pointers typed.
template <class T, auto pack_body, auto unpack_body>
constexpr HandCode typed() {
  return {[](const HandLoop& loop, const std::byte* array, std::byte* packed) {
            pack_body(loop, reinterpret_cast<const T*>(array), reinterpret_cast<T*>(packed));
          },
          [](const HandLoop& loop, const std::byte* packed, std::byte* array) {
            unpack_body(loop, reinterpret_cast<T*>(array), reinterpret_cast<const T*>(packed));
          }};
}

template <class T>
HandCode code_of(const HandLoop& loop) noexcept {
  using P = Packing<T>;
  using U = Unpacking<T>;
  static constexpr std::array nests{
      typed<T, move_nest<P, 1>, move_nest<U, 1>>(), typed<T, move_nest<P, 2>, move_nest<U, 2>>(),
      typed<T, move_nest<P, 3>, move_nest<U, 3>>(), typed<T, move_nest<P, 4>, move_nest<U, 4>>()};
  switch (loop.shape) {
    case HandShape::nest:
      return nests[static_cast<std::size_t>(loop.depth) - 1];
    case HandShape::elements:
      return loop.depth == 1 ? typed<T, move_row<P>, move_row<U>>() : typed<T, move_plane<P>, move_plane<U>>();
    case HandShape::listed:
      return loop.run == 1 ? typed<T, move_listed<P, 1>, move_listed<U, 1>>()
                           : typed<T, move_listed<P, 3>, move_listed<U, 3>>();
    case HandShape::blocks:
      return typed<T, move_blocks<P>, move_blocks<U>>();
    default:
      return typed<T, move_run<P>, move_run<U>>();
  }
}

HandCode code(const HandLoop& loop) noexcept {
  switch (loop.type) {
    case HandType::float32:
      return code_of<float>(loop);
    case HandType::float64:
      return code_of<double>(loop);
    default:
      return code_of<std::complex<double>>(loop);
  }
}

}  // namespace penstock::lab::PENSTOCK_HAND_SET

// The bodies of all kernels, written once over a vector type. Each instruction set's file instantiates them with a type
// of its own unnamed namespace, so that no code compiled for one processor is ever linked into another's path.
#pragma once

#include <cstddef>
#include <cstdint>

#include "penstock/mover/kernels.hpp"

namespace penstock::mover {

// A vector type V has: `bytes`; load(address), store(address, vector); stream(address, vector) for aligned addresses;
// copy_part(destination, source, n) for n < bytes; width<E>, the elements of E bytes along a side of its square;
// transpose<E, is_streaming>(...) for a whole square and transpose_part<E, is_streaming>(...) for less than one.

template <class V>
[[gnu::always_inline]] inline void copy_block(std::byte* to, const std::byte* from, std::int64_t bytes) {
  constexpr std::int64_t step = V::bytes;
  if (bytes < step) {
    V::copy_part(to, from, bytes);
    return;
  }
  const auto last = V::load(from + bytes - step);
  std::byte* const last_to = to + bytes - step;
  for (; bytes >= 4 * step; bytes -= 4 * step, to += 4 * step, from += 4 * step) {
    const auto a = V::load(from);
    const auto b = V::load(from + step);
    const auto c = V::load(from + 2 * step);
    const auto d = V::load(from + 3 * step);
    V::store(to, a);
    V::store(to + step, b);
    V::store(to + 2 * step, c);
    V::store(to + 3 * step, d);
  }
  for (; bytes >= step; bytes -= step, to += step, from += step) {
    V::store(to, V::load(from));
  }
  V::store(last_to, last);
}

template <class V>
[[gnu::always_inline]] inline void stream_block(std::byte* to, const std::byte* from, std::int64_t bytes) {
  constexpr std::int64_t step = V::bytes;
  const auto head = static_cast<std::int64_t>(-reinterpret_cast<std::uintptr_t>(to) % line_bytes);
  if (bytes < head + line_bytes) {
    copy_block<V>(to, from, bytes);
    return;
  }
  copy_block<V>(to, from, head);
  to += head;
  from += head;
  bytes -= head;
  for (; bytes >= line_bytes; bytes -= line_bytes, to += line_bytes, from += line_bytes) {
    for (std::int64_t i = 0; i < line_bytes; i += step) {
      V::stream(to + i, V::load(from + i));
    }
  }
  copy_block<V>(to, from, bytes);
}

template <class V, std::int64_t bytes>
[[gnu::always_inline]] inline void copy_fixed_block(std::byte* to, const std::byte* from) {
  if constexpr (bytes < V::bytes) {
    __builtin_memcpy(to, from, bytes);
  } else {
    for (std::int64_t i = 0; i < bytes; i += V::bytes) {
      V::store(to + i, V::load(from + i));
    }
  }
}

/// Calls `move(to, from)` for each block of two loops.
template <class Move>
[[gnu::always_inline]] inline void for_each_block(const std::byte* from, std::byte* to, const Work& work, Move move) {
  for (std::int64_t j = 0; j < work.outer.extent; ++j) {
    const std::byte* row_from = from + j * work.outer.source_stride;
    std::byte* row_to = to + j * work.outer.destination_stride;
    for (std::int64_t i = 0; i < work.inner.extent; ++i) {
      move(row_to + i * work.inner.destination_stride, row_from + i * work.inner.source_stride);
    }
  }
}

template <class V, std::int64_t bytes>
void copy_fixed_rows(const std::byte* from, std::byte* to, const Work& work) noexcept {
  for_each_block(from, to, work, [](std::byte* d, const std::byte* s) { copy_fixed_block<V, bytes>(d, s); });
}

template <class V>
void copy_rows(const std::byte* from, std::byte* to, const Work& work) noexcept {
  for_each_block(from, to, work, [&](std::byte* d, const std::byte* s) { copy_block<V>(d, s, work.block); });
}

template <class V>
void stream_rows(const std::byte* from, std::byte* to, const Work& work) noexcept {
  for_each_block(from, to, work, [&](std::byte* d, const std::byte* s) { stream_block<V>(d, s, work.block); });
}

/// Collects blocks in a buffer in the first cache, so that the destination sees whole lines.
template <class V>
void stream_gathered_rows(const std::byte* from, std::byte* to, const Work& work) noexcept {
  constexpr std::int64_t buffer_bytes = 4096;
  alignas(64) std::byte buffer[buffer_bytes];
  const std::int64_t blocks = buffer_bytes / work.block;
  for (std::int64_t j = 0; j < work.outer.extent; ++j) {
    const std::byte* row_from = from + j * work.outer.source_stride;
    std::byte* row_to = to + j * work.outer.destination_stride;
    for (std::int64_t i = 0; i < work.inner.extent; i += blocks) {
      const std::int64_t now = work.inner.extent - i < blocks ? work.inner.extent - i : blocks;
      for (std::int64_t k = 0; k < now; ++k) {
        copy_block<V>(buffer + k * work.block, row_from + (i + k) * work.inner.source_stride, work.block);
      }
      stream_block<V>(row_to + i * work.block, buffer, now * work.block);
    }
  }
}

template <class V>
void copy_list(const std::byte* from, std::byte* to, const Work& work) noexcept {
  for (std::size_t i = 0; i < work.piece_count; ++i) {
    const Piece& piece = work.pieces[i];
    copy_block<V>(to + piece.destination_offset, from + piece.source_offset, piece.bytes);
  }
}

template <class V>
void stream_list(const std::byte* from, std::byte* to, const Work& work) noexcept {
  for (std::size_t i = 0; i < work.piece_count; ++i) {
    const Piece& piece = work.pieces[i];
    stream_block<V>(to + piece.destination_offset, from + piece.source_offset, piece.bytes);
  }
}

}  // namespace penstock::mover

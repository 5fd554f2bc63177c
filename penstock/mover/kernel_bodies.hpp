// The bodies of all kernels, written once over a vector type. Each instruction set's file instantiates them with a type
// of its own unnamed namespace, so that no code compiled for one processor is ever linked into another's path.
#pragma once

#include <cstddef>
#include <cstdint>

#include "penstock/mover/kernels.hpp"

namespace penstock::mover {

// A vector type V has: `bytes`; load(address), store(address, vector); stream(address, vector) for aligned addresses;
// copy_part(to, from, n) for n < bytes; stream_part(to, from, n) for n < 64 within a line; copy_long(to, from, n);
// width<E>, the elements of E bytes along a side of its square; transpose<E, is_streaming>(...) for a whole square and
// transpose_part<E, is_streaming>(...) for less than one. V::ForEntries, with `bytes`, load, store and copy_part, is
// for short blocks at any place: vectors of a whole line would cross into the next one nearly always (half a line is a
// tenth to a quarter faster; EPYC 9004, November 2026).

/// How far ahead the source is asked for, in bytes moved: measured best of 256 to 16384 for rows and transpositions
/// from memory (EPYC 9005, November 2026).
inline constexpr std::int64_t prefetch_bytes = 4096;

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

/// A line that is written in part bypasses the cache as well: read first, as ordinary stores do, each would hold up the
/// stores behind it (four times the time of a scatter of 256-byte chunks; EPYC 9005).
template <class V>
[[gnu::always_inline]] inline void stream_block(std::byte* to, const std::byte* from, std::int64_t bytes) {
  constexpr std::int64_t step = V::bytes;
  const auto to_line = static_cast<std::int64_t>(-reinterpret_cast<std::uintptr_t>(to) % line_bytes);
  const std::int64_t head = bytes < to_line ? bytes : to_line;
  V::stream_part(to, from, head);
  to += head;
  from += head;
  bytes -= head;
  for (; bytes >= line_bytes; bytes -= line_bytes, to += line_bytes, from += line_bytes) {
    for (std::int64_t i = 0; i < line_bytes; i += step) {
      V::stream(to + i, V::load(from + i));
    }
  }
  V::stream_part(to, from, bytes);
}

template <class V, std::int64_t bytes>
[[gnu::always_inline]] inline void copy_fixed_block(std::byte* to, const std::byte* from) {
  if constexpr (bytes % V::bytes != 0) {
    __builtin_memcpy(to, from, bytes);
  } else {
    for (std::int64_t i = 0; i < bytes; i += V::bytes) {
      V::store(to + i, V::load(from + i));
    }
  }
}

/// Calls `move(to, from, ahead)` for each block of two loops, `ahead` being the address of a block that comes about
/// `prefetch_bytes` later, or null near the end.
template <class Move>
[[gnu::always_inline]] inline void for_each_block(const std::byte* from, std::byte* to, const Work& work, Move move) {
  const std::int64_t blocks_ahead = (prefetch_bytes + work.block - 1) / work.block;
  for (std::int64_t j = 0; j < work.outer.extent; ++j) {
    const std::byte* row_from = from + j * work.outer.source_stride;
    std::byte* row_to = to + j * work.outer.destination_stride;
    for (std::int64_t i = 0; i < work.inner.extent; ++i) {
      const bool has_ahead = i + blocks_ahead < work.inner.extent;
      move(row_to + i * work.inner.destination_stride, row_from + i * work.inner.source_stride,
           has_ahead ? row_from + (i + blocks_ahead) * work.inner.source_stride : nullptr);
    }
  }
}

/// Asks for the lines of a block; `ahead` may be null.
[[gnu::always_inline]] inline void prefetch(const std::byte* ahead, std::int64_t bytes) {
  if (ahead != nullptr) {
    for (std::int64_t i = 0; i < bytes; i += line_bytes) {
      __builtin_prefetch(ahead + i);
    }
  }
}

template <class V, std::int64_t bytes>
void copy_fixed_rows(const std::byte* from, std::byte* to, const Work& work) noexcept {
  for_each_block(from, to, work, [](std::byte* d, const std::byte* s, const std::byte* ahead) {
    if constexpr (bytes >= line_bytes) {
      prefetch(ahead, bytes);
    }
    copy_fixed_block<V, bytes>(d, s);
  });
}

/// What lies one after another the processor's own prefetchers find: asked for by us as well, it came 1.4 times later
/// (16 rows of 4 KiB; EPYC 9005, November 2026).
template <class V>
void copy_rows(const std::byte* from, std::byte* to, const Work& work) noexcept {
  const bool is_asked_for = work.block >= line_bytes && work.inner.source_stride != work.block;
  for_each_block(from, to, work, [&](std::byte* d, const std::byte* s, const std::byte* ahead) {
    prefetch(is_asked_for ? ahead : nullptr, work.block);
    copy_block<V>(d, s, work.block);
  });
}

/// For blocks of at least `prefetch_bytes`.
template <class V>
void copy_long_rows(const std::byte* from, std::byte* to, const Work& work) noexcept {
  const bool is_apart = work.inner.source_stride != work.block;
  for_each_block(from, to, work, [&](std::byte* d, const std::byte* s, const std::byte* ahead) {
    prefetch(is_apart ? ahead : nullptr, prefetch_bytes);
    V::copy_long(d, s, work.block);
  });
}

/// Short blocks bypass the cache where they are whole lines.
template <class V>
void stream_rows(const std::byte* from, std::byte* to, const Work& work) noexcept {
  constexpr std::int64_t short_block = 4 * line_bytes;
  const std::int64_t places = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(to)) | work.block |
                              work.inner.destination_stride | work.outer.destination_stride;
  if (work.block < short_block && places % line_bytes != 0) {
    copy_rows<V>(from, to, work);
    return;
  }
  for_each_block(from, to, work, [&](std::byte* d, const std::byte* s, const std::byte* ahead) {
    prefetch(ahead, work.block);
    stream_block<V>(d, s, work.block);
  });
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

template <class V, std::int64_t bytes, bool is_gather>
void move_equal_entries(const std::byte* from, std::byte* to, const Work& work) noexcept {
  const std::uint32_t* offset = work.offsets;
  const std::uint32_t* const end = offset + work.entry_count;
  const auto move = [&](std::int64_t i) {
    copy_fixed_block<V, bytes>(is_gather ? to + i * bytes : to + offset[i],
                               is_gather ? from + offset[i] : from + i * bytes);
  };
  for (; end - offset >= 8; offset += 8) {
#pragma GCC unroll 8
    for (std::int64_t i = 0; i < 8; ++i) {
      move(i);
    }
    if constexpr (is_gather) {
      to += 8 * bytes;
    } else {
      from += 8 * bytes;
    }
  }
  for (std::int64_t i = 0; i < end - offset; ++i) {
    move(i);
  }
}

/// One loop, whose end is one branch that cannot be foretold, where `copy_block` has two; and loads one after the
/// other, as the processor's prefetchers follow them best.
template <class V>
[[gnu::always_inline]] inline void copy_entry(std::byte* to, const std::byte* from, std::int64_t bytes) {
  constexpr std::int64_t step = V::bytes;
  if (bytes < step) {
    V::copy_part(to, from, bytes);
    return;
  }
  const std::int64_t last = bytes - step;
#pragma GCC unroll 1
  for (std::int64_t done = 0; done < last; done += step) {
    V::store(to + done, V::load(from + done));
  }
  V::store(to + last, V::load(from + last));
}

template <class V, bool is_gather>
void move_entries(const std::byte* from, std::byte* to, const Work& work) noexcept {
  const std::uint32_t* const offsets = work.offsets;
  const std::uint32_t* const positions = work.positions;
  const std::size_t count = work.entry_count;
  for (std::size_t i = 0; i < count; ++i) {
    const std::int64_t apart = offsets[i];
    const std::int64_t packed = positions[i];
    copy_entry<typename V::ForEntries>(to + (is_gather ? packed : apart), from + (is_gather ? apart : packed),
                                       positions[i + 1] - packed);
  }
}

}  // namespace penstock::mover

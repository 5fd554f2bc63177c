// What the vector types of x86-64 share: copies of less than a vector, stores that bypass the cache for less than a
// line, and the copy by string instruction. All for a vector type V, so that each instruction set has its own.
#pragma once

#include <emmintrin.h>

#include <cstddef>
#include <cstdint>

namespace penstock::mover {

/// Copies less than `bytes`, a power of two, by two moves that overlap where the count is no power of two: stores under
/// a mask, which would be one, take many times as long (EPYC 9004, November 2026).
template <class V, std::int64_t bytes>
[[gnu::always_inline]] inline void copy_less_than(std::byte* to, const std::byte* from, std::int64_t count) {
  constexpr std::int64_t half = bytes / 2;
  if (count >= half) {
    std::byte first[half];
    std::byte last[half];
    __builtin_memcpy(first, from, half);
    __builtin_memcpy(last, from + count - half, half);
    __builtin_memcpy(to, first, half);
    __builtin_memcpy(to + count - half, last, half);
  } else if constexpr (half > 1) {
    copy_less_than<V, half>(to, from, count);
  }
}

/// Streams one unit where the destination is a multiple of it and as much is left, and steps past it.
template <class Unit, class Store>
[[gnu::always_inline]] inline bool stream_unit(std::byte*& to, const std::byte*& from, std::int64_t& bytes,
                                               Store store) {
  constexpr std::int64_t size = sizeof(Unit);
  if (bytes < size || reinterpret_cast<std::uintptr_t>(to) % size != 0) {
    return false;
  }
  Unit unit;
  __builtin_memcpy(&unit, from, sizeof(unit));
  store(to, unit);
  to += size;
  from += size;
  bytes -= size;
  return true;
}

/// Streams less than a line in the largest units that its address allows; single bytes go by ordinary stores.
template <class V>
[[gnu::always_inline]] inline void stream_less_than_a_line(std::byte* to, const std::byte* from, std::int64_t bytes) {
  while (bytes > 0) {
    if (stream_unit<__m128i>(to, from, bytes,
                             [](void* d, __m128i v) { _mm_stream_si128(static_cast<__m128i*>(d), v); }) ||
        stream_unit<long long>(to, from, bytes,
                               [](void* d, long long v) { _mm_stream_si64(static_cast<long long*>(d), v); }) ||
        stream_unit<int>(to, from, bytes, [](void* d, int v) { _mm_stream_si32(static_cast<int*>(d), v); })) {
      continue;
    }
    *to++ = *from++;
    --bytes;
  }
}

/// Copies by the string instruction, which moves whole lines past the first cache and asks for them far ahead.
template <class V>
[[gnu::always_inline]] inline void copy_by_string(std::byte* to, const std::byte* from, std::int64_t bytes) {
  asm volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(bytes) : : "memory");
}

}  // namespace penstock::mover

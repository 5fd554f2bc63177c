// Copies whose stores bypass the cache.
#pragma once

#include <cstdint>
#include <cstring>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace penstock::fft {

/// Copies `bytes` bytes, past the cache where `is_streaming` and both the place and the bytes are whole vectors. Call
/// mover::finish_streaming before another thread learns that the data are there.
inline void copy_bytes(std::byte* to, const std::byte* from, std::int64_t bytes, [[maybe_unused]] bool is_streaming) {
#ifdef __SSE2__
  constexpr std::int64_t vector_bytes = sizeof(__m128i);
  if (is_streaming && reinterpret_cast<std::uintptr_t>(to) % vector_bytes == 0 && bytes % vector_bytes == 0) {
    for (std::int64_t at = 0; at < bytes; at += vector_bytes) {
      _mm_stream_si128(reinterpret_cast<__m128i*>(to + at),
                       _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + at)));
    }
    return;
  }
#endif
  std::memcpy(to, from, static_cast<std::size_t>(bytes));
}

}  // namespace penstock::fft

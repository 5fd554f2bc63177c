// Non-temporal stores of whole cache lines, which are not read first. Written over a vector type, as pass_bodies.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "penstock/transform/passes.hpp"

namespace penstock::transform {

[[gnu::always_inline]] inline std::int64_t bytes_into_line(const std::byte* at) {
  return static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(at) % line_bytes);
}

[[gnu::always_inline]] inline bool begins_line(const std::byte* at) {
  return bytes_into_line(at) == 0;
}

/// The least of a row that begins or ends within lines and is stored past the cache: what of it is stored as usual, up
/// to a line at each end, is read from memory first.
inline constexpr std::int64_t min_ragged_bytes = 8 * line_bytes;

/// Whole vectors past the cache, both at addresses of vectors.
template <class S>
[[gnu::always_inline]] inline void stream_bytes(std::byte* to, const std::byte* from, std::int64_t bytes) {
  for (std::int64_t i = 0; i < bytes; i += static_cast<std::int64_t>(sizeof(typename S::Vector))) {
    S::stream(to + i, *reinterpret_cast<const typename S::Vector*>(from + i));
  }
}

/// Stores bytes `begin` to `end` of a row of `row_bytes`, the lines that it fills past the cache. `lines` has them as
/// far behind its begin as the row is behind that of its first line. Before the row's end, a line that is not full yet
/// is left there for the next bytes.
template <class S>
[[gnu::noinline]] void stream_ragged(std::byte* row, std::byte* lines, std::int64_t begin, std::int64_t end,
                                     std::int64_t row_bytes) noexcept {
  const std::int64_t into = bytes_into_line(row);
  std::byte* const to = row - into + begin;
  const std::int64_t filled = into + end - begin;
  const std::int64_t whole = filled / line_bytes * line_bytes;
  std::int64_t at = 0;
  if (begin == 0 && into > 0) {
    at = line_bytes;
    std::memcpy(row, lines + into, static_cast<std::size_t>(line_bytes - into));
  }
  stream_bytes<S>(to + at, lines + at, whole - at);
  if (end < row_bytes) {
    std::memcpy(lines, lines + whole, line_bytes);
  } else {
    std::memcpy(to + whole, lines + whole, static_cast<std::size_t>(filled - whole));
  }
}

/// A row whose legs begin within lines, made in the cache before the lines that it fills are stored past it.
struct StagedRow {
  std::byte* destination;
  std::int64_t row_bytes;
  bool is_staged;
  std::byte* to;  ///< where it is made
  alignas(line_bytes) std::byte row[bytes_together + line_bytes];

  [[gnu::always_inline]] StagedRow(std::byte* row_destination, std::int64_t bytes, bool may_stream)
      : destination(row_destination), row_bytes(bytes) {
    const bool are_lines = begins_line(destination) && bytes % line_bytes == 0;
    is_staged = may_stream && bytes <= bytes_together && (are_lines || bytes >= min_ragged_bytes);
    to = is_staged ? row + bytes_into_line(destination) : destination;
  }
  template <class S>
  [[gnu::always_inline]] void finish() {
    if (is_staged) {
      stream_ragged<S>(destination, row, 0, row_bytes, row_bytes);
    }
  }
};

}  // namespace penstock::transform

// Numbers of either byte order, wherever they lie. Private to volume.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstring>

namespace penstock::volume {

static_assert(std::endian::native == std::endian::little, "numbers in memory are little-endian");

/// The number whose bytes begin at `at`.
template <class Number>
Number number_at(const void* at, bool is_big_endian) noexcept {
  std::array<std::byte, sizeof(Number)> bytes;
  std::memcpy(bytes.data(), at, sizeof(Number));
  if (is_big_endian) {
    std::reverse(bytes.begin(), bytes.end());
  }
  return std::bit_cast<Number>(bytes);
}

}  // namespace penstock::volume

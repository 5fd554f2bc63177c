// Directions as indices of arrays.
#pragma once

#include <cstddef>

namespace penstock::fft {

constexpr std::size_t at(int direction) noexcept {
  return static_cast<std::size_t>(direction);
}

}  // namespace penstock::fft

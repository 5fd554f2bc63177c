// Ranks as places in arrays. Private to the module.
#pragma once

#include <cstddef>

namespace penstock::gas {

/// Where what belongs to `rank` lies in an array that has something of every rank.
constexpr std::size_t index(int rank) noexcept {
  return static_cast<std::size_t>(rank);
}

}  // namespace penstock::gas

// Ranks as places in arrays. Private to the module.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace penstock::gas {

/// Where what belongs to `rank` lies in an array that has something of every rank.
constexpr std::size_t index(int rank) noexcept {
  return static_cast<std::size_t>(rank);
}

/// For each rank the lowest one with the same mark.
template <class T>
std::vector<int> lowest_alike(const std::vector<T>& marks) {
  std::vector<int> lowest;
  lowest.reserve(marks.size());
  for (const T& mark : marks) {
    lowest.push_back(static_cast<int>(std::ranges::find(marks, mark) - marks.begin()));
  }
  return lowest;
}

}  // namespace penstock::gas

// Ranks as indices of arrays. Private to the module.
#pragma once

#include <cstddef>
#include <unordered_map>
#include <vector>

namespace penstock::gas {

/// Where what belongs to `rank` lies in an array that has something of every rank.
constexpr std::size_t index(int rank) noexcept {
  return static_cast<std::size_t>(rank);
}

/// For each rank the lowest one with the same mark.
template <class T>
std::vector<int> lowest_alike(const std::vector<T>& marks) {
  std::unordered_map<T, int> first;
  std::vector<int> lowest;
  lowest.reserve(marks.size());
  for (const T& mark : marks) {
    lowest.push_back(first.emplace(mark, static_cast<int>(lowest.size())).first->second);
  }
  return lowest;
}

}  // namespace penstock::gas

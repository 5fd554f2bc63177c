// A global array as one process would hold it: what tests compare with.
#pragma once

#include <cstddef>
#include <vector>

#include "penstock/gas/gas.hpp"

namespace penstock::gas {

/// All its elements, in C order.
template <class T, std::size_t N>
struct PlainArray {
  Index<N> extents;
  std::vector<T> elements;

  explicit PlainArray(const Index<N>& of) : extents(of), elements(static_cast<std::size_t>(Box<N>{{}, of}.count())) {}

  T& at(const Index<N>& index) {
    std::size_t place = 0;
    for (std::size_t d = 0; d < N; ++d) {
      place = place * static_cast<std::size_t>(extents[d]) + static_cast<std::size_t>(index[d]);
    }
    return elements.at(place);
  }
};

/// Calls visit(index) for each element of a box, in C order.
template <std::size_t N, class Visit>
void walk(const Box<N>& box, const Visit& visit) {
  if (box.count() == 0) {
    return;
  }
  for (Index<N> index = box.lower;;) {
    visit(index);
    std::size_t d = N;
    while (d-- > 0 && ++index[d] == box.lower[d] + box.extent[d]) {
      index[d] = box.lower[d];
    }
    if (d > N) {
      return;
    }
  }
}

}  // namespace penstock::gas

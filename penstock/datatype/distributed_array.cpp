#include "penstock/datatype/distributed_array.hpp"

#include <cstddef>

#include "penstock/datatype/distance.hpp"

namespace penstock::datatype {
namespace {

using layout::Layout;

/// This process's share of one dimension whose elements are `inner`, `stride` bytes apart.
Layout deal(const Dealing& dimension, const Layout& inner, std::int64_t stride) {
  const auto [size, block, processes, coordinate] = dimension;
  if (block == 0) {
    return {};
  }
  const std::int64_t whole_blocks = size / block;
  const std::int64_t left_over = size % block;
  const std::int64_t mine = whole_blocks > coordinate ? (whole_blocks - coordinate - 1) / processes + 1 : 0;
  Layout whole;
  if (mine > 0) {
    // The distance between blocks matters only where there are two, and then lies inside the array.
    const std::int64_t distance = mine > 1 ? product(product(processes, block), stride) : 0;
    whole = Layout::strided(mine, distance, Layout::strided(block, stride, inner))
                .displaced(product(product(coordinate, block), stride));
  }
  if (left_over == 0 || whole_blocks % processes != coordinate) {
    return whole;
  }
  const Layout rest = Layout::strided(left_over, stride, inner).displaced(product(whole_blocks * block, stride));
  return mine == 0 ? rest : Layout::sequence({{whole, rest}});
}

}  // namespace

Layout distributed_array(std::span<const Dealing> dimensions, const Layout& element, std::int64_t element_extent) {
  Layout array = element;
  std::int64_t stride = element_extent;
  for (std::size_t i = dimensions.size(); i-- > 0;) {
    array = deal(dimensions[i], array, stride);
    if (array.bytes() == 0) {
      return {};
    }
    stride = product(stride, dimensions[i].size);
  }
  return array;
}

}  // namespace penstock::datatype

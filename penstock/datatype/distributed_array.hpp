// One process's part of an array that is distributed over a grid of processes, as MPI_Type_create_darray defines it.
#pragma once

#include <cstdint>
#include <span>

#include "penstock/layout/layout.hpp"

namespace penstock::datatype {

/// How one dimension of `size` elements is dealt out: in blocks of `block` elements to `processes` processes in turn,
/// of which this one is number `coordinate`.
struct Dealing {
  std::int64_t size;
  std::int64_t block;
  std::int64_t processes;
  std::int64_t coordinate;
};

/// The elements of this process in the order of the array's memory. `dimensions` go from the slowest in memory to the
/// fastest; elements are `element_extent` bytes apart.
layout::Layout distributed_array(std::span<const Dealing> dimensions, const layout::Layout& element,
                                 std::int64_t element_extent);

}  // namespace penstock::datatype

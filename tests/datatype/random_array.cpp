// The random types that are parts of arrays: subarrays, and arrays dealt out to processes.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "random_type.hpp"

namespace penstock::datatype {

/// The elements whose index in every dimension is among `indices`, in the order of the array's memory.
Bytes TypeMaker::elements_at(const std::vector<Bytes>& indices, const std::vector<int>& sizes, bool is_fortran,
                             const RandomType& part) {
  Bytes origins{0};
  for (std::size_t i = 0; i < indices.size(); ++i) {
    const std::size_t dimension = is_fortran ? indices.size() - 1 - i : i;  // from the slowest in memory
    Bytes finer;
    for (const std::int64_t origin : origins) {
      for (const std::int64_t index : indices[dimension]) {
        finer.push_back(origin * sizes[dimension] + index);
      }
    }
    origins = std::move(finer);
  }
  Bytes bytes;
  for (const std::int64_t origin : origins) {
    append(bytes, origin * part.extent, 1, part);
  }
  return bytes;
}

RandomType TypeMaker::make_subarray(const RandomType& part) {
  const int dimensions = small(1, 4);
  std::vector<int> sizes;
  std::vector<int> extents;
  std::vector<int> starts;
  std::vector<Bytes> indices;
  for (int i = 0; i < dimensions; ++i) {
    sizes.push_back(small(1, one_in(8) ? 24 : 5));
    extents.push_back(one_in(4) ? sizes.back() : small(1, sizes.back()));
    starts.push_back(small(0, sizes.back() - extents.back()));
    Bytes& mine = indices.emplace_back();
    for (int index = 0; index < extents.back(); ++index) {
      mine.push_back(starts.back() + index);
    }
  }
  const bool is_fortran = one_in(2);
  Bytes bytes = elements_at(indices, sizes, is_fortran, part);
  return finish(
      datatype::make(MPI_Type_create_subarray, dimensions, sizes.data(), extents.data(), starts.data(),
                     is_fortran ? MPI_ORDER_FORTRAN : MPI_ORDER_C, part.type),
      std::move(bytes),
      fmt::format("subarray({{{}}}, {{{}}}, {{{}}}, {}, {})", fmt::join(sizes, ", "), fmt::join(extents, ", "),
                  fmt::join(starts, ", "), is_fortran ? "FORTRAN" : "C", part.text));
}

RandomType TypeMaker::make_darray(const RandomType& part) {
  const int dimensions = small(1, 3);
  std::vector<int> sizes;
  std::vector<int> distributions;
  std::vector<int> blocks;
  std::vector<int> blocks_meant;
  std::vector<int> grid;
  int processes = 1;
  for (int i = 0; i < dimensions; ++i) {
    const int size = sizes.emplace_back(small(1, one_in(8) ? 24 : 7));
    const int kind = small(0, 2);
    distributions.push_back(kind == 0 ? MPI_DISTRIBUTE_NONE : kind == 1 ? MPI_DISTRIBUTE_BLOCK : MPI_DISTRIBUTE_CYCLIC);
    grid.push_back(kind == 0 ? 1 : small(1, 4));
    processes *= grid.back();
    const bool is_default = kind == 0 || one_in(2);
    const int least = kind == 2 ? 1 : (size + grid.back() - 1) / grid.back();
    blocks_meant.push_back(is_default ? least : least + small(0, 3));
    blocks.push_back(is_default ? MPI_DISTRIBUTE_DFLT_DARG : blocks_meant.back());
  }
  // The grid of processes is in row-major order.
  const int rank = small(0, processes - 1);
  int processes_below = processes;
  std::vector<Bytes> indices;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    processes_below /= grid[i];
    const int coordinate = rank / processes_below % grid[i];
    Bytes& mine = indices.emplace_back();
    for (int index = 0; index < sizes[i]; ++index) {
      if (index / blocks_meant[i] % grid[i] == coordinate) {
        mine.push_back(index);
      }
    }
  }
  const bool is_fortran = one_in(2);
  Bytes bytes = elements_at(indices, sizes, is_fortran, part);
  return finish(datatype::make(MPI_Type_create_darray, processes, rank, dimensions, sizes.data(), distributions.data(),
                               blocks.data(), grid.data(), is_fortran ? MPI_ORDER_FORTRAN : MPI_ORDER_C, part.type),
                std::move(bytes),
                fmt::format("darray({}, {}, {{{}}}, {{{}}}, {{{}}}, {{{}}}, {}, {})", processes, rank,
                            fmt::join(sizes, ", "), fmt::join(distributions, ", "), fmt::join(blocks, ", "),
                            fmt::join(grid, ", "), is_fortran ? "FORTRAN" : "C", part.text));
}

}  // namespace penstock::datatype

#include "penstock/gas/array/distribution.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <functional>
#include <numeric>

#include "penstock/base/base.hpp"
#include "penstock/shape/shape.hpp"

namespace penstock::gas {
namespace {

constexpr std::int64_t max_elements = std::int64_t{1} << 62;

/// The dimensions of 0 filled in.
std::vector<int> complete_grid(std::span<const int> given, std::span<const std::int64_t> extents, int ranks) {
  std::vector<int> grid(given.begin(), given.end());
  std::int64_t taken = 1;
  for (const int owners : grid) {
    if (owners < 0) {
      throw Error(fmt::format("the grid {} of a global array: its sizes must not be negative", fmt::join(grid, " x ")));
    }
    taken *= std::max(owners, 1);
    if (taken > ranks) {
      throw Error(fmt::format("the grid {} of a global array wants more ranks than the team has, {}",
                              fmt::join(grid, " x "), ranks));
    }
  }
  std::vector<std::int64_t> free;
  for (std::size_t d = 0; d < grid.size(); ++d) {
    if (grid[d] == 0) {
      free.push_back(extents[d]);
    }
  }
  std::vector<int> filled = shape::even_grid(free, ranks / static_cast<int>(taken));
  for (std::size_t d = grid.size(); d-- > 0;) {
    if (grid[d] == 0) {
      grid[d] = filled.back();
      filled.pop_back();
    }
  }
  return grid;
}

}  // namespace

Distribution::Distribution(std::span<const std::int64_t> extents, std::span<const std::int64_t> blocks,
                           std::span<const int> grid, int ranks) {
  std::int64_t elements = ranks;
  for (const std::int64_t extent : extents) {
    if (extent < 0) {
      throw Error(
          fmt::format("a global array of {} elements: extents must not be negative", fmt::join(extents, " x ")));
    }
    if (__builtin_mul_overflow(elements, std::max<std::int64_t>(extent, 1), &elements) || elements >= max_elements) {
      throw Error(fmt::format("a global array of {} elements on {} ranks: more than an address space",
                              fmt::join(extents, " x "), ranks));
    }
  }
  const std::vector<int> owners = complete_grid(grid, extents, ranks);
  for (std::size_t d = 0; d < extents.size(); ++d) {
    if (blocks[d] < 0) {
      throw Error(fmt::format("a global array in blocks of {} elements: blocks must not be negative",
                              fmt::join(blocks, " x ")));
    }
    const std::int64_t wanted = blocks[d] == 0 ? divide_up(extents[d], owners[d]) : std::min(blocks[d], extents[d]);
    dimensions_.emplace_back(extents[d], std::max<std::int64_t>(wanted, 1), owners[d]);
  }
}

std::vector<int> Distribution::coordinates(int rank) const {
  std::vector<int> coordinates(dimensions_.size());
  for (std::size_t d = dimensions_.size(); d-- > 0;) {
    coordinates[d] = rank % dimensions_[d].owners();
    rank /= dimensions_[d].owners();
  }
  return rank == 0 ? coordinates : std::vector<int>();
}

std::vector<std::int64_t> Distribution::extents_of(int rank) const {
  std::vector<std::int64_t> extents(dimensions_.size(), 0);
  const std::vector<int> at = coordinates(rank);
  for (std::size_t d = 0; d < at.size(); ++d) {
    extents[d] = dimensions_[d].count(at[d]);
  }
  return extents;
}

std::vector<std::int64_t> Distribution::extents() const {
  std::vector<std::int64_t> extents;
  for (const BlockCyclic& dimension : dimensions_) {
    extents.push_back(dimension.extent());
  }
  return extents;
}

void Distribution::check_box(std::span<const std::int64_t> first, std::span<const std::int64_t> extents_of_box) const {
  for (std::size_t d = 0; d < dimensions_.size(); ++d) {
    if (first[d] < 0 || extents_of_box[d] < 0 || first[d] > dimensions_[d].extent() ||
        extents_of_box[d] > dimensions_[d].extent() - first[d]) {
      throw Error(fmt::format("a box of {} elements at ({}) does not fit into a global array of {} elements",
                              fmt::join(extents_of_box, " x "), fmt::join(first, ", "), fmt::join(extents(), " x ")));
    }
  }
}

void Distribution::refuse(std::span<const std::int64_t> index) const {
  throw Error(fmt::format("element ({}) is not in a global array of {} elements", fmt::join(index, ", "),
                          fmt::join(extents(), " x ")));
}

std::string Distribution::describe() const {
  std::vector<std::int64_t> blocks;
  std::vector<int> grid;
  for (const BlockCyclic& dimension : dimensions_) {
    blocks.push_back(dimension.block());
    grid.push_back(dimension.owners());
  }
  return fmt::format("{} elements in blocks of {} over {} ranks", fmt::join(extents(), " x "), fmt::join(blocks, " x "),
                     fmt::join(grid, " x "));
}

}  // namespace penstock::gas

// Each worker puts its tile, cut by C's owners, into a copy of their blocks that its layer has to itself; whoever has
// all of them adds them up.
#include "penstock/gemm/layer_sum.hpp"

#include <algorithm>
#include <array>
#include <complex>
#include <functional>
#include <utility>
#include <vector>

#include "penstock/gemm/blas.hpp"
#include "penstock/layout/layout.hpp"

namespace penstock::gemm {
namespace {

/// What a worker's tile and the block of a rank have in common, in C.
gas::Box<2> common(const CannonGrid& grid, int worker, const gas::Box<2>& block) {
  const Range rows = grid.rows(worker);
  const Range columns = grid.columns(worker);
  const gas::Box<2> tile{{rows.lower, columns.lower}, {rows.extent, columns.extent}};
  return shape::intersect(tile, block);
}

/// Where a worker puts its part of a block, in elements: dense, in the copy of its layer, behind what the workers above
/// it and left of it put there.
std::int64_t position(const CannonGrid& grid, int worker, const gas::Box<2>& part, const gas::Box<2>& block) {
  const std::int64_t layer = worker / (grid.shape().rows * grid.shape().columns);
  return layer * block.count() + (part.lower[0] - block.lower[0]) * block.extent[1] +
         part.extent[0] * (part.lower[1] - block.lower[1]);
}

/// A box within a larger one, which begins at `first`.
layout::Layout within(const gas::Box<2>& part, const gas::Index<2>& first, const gas::Index<2>& extents,
                      std::int64_t element_bytes) {
  const gas::Index<2> start{part.lower[0] - first[0], part.lower[1] - first[1]};
  return layout::Layout::subarray(extents, start, part.extent, element_bytes);
}

/// Adds a part to the block, at `elements`.
template <class T>
void add(const gas::Box<2>& part, const T* terms, const gas::Box<2>& block, T* elements) {
  for (std::int64_t row = 0; row < part.extent[0]; ++row) {
    T* const to = elements + (part.lower[0] - block.lower[0] + row) * block.extent[1] + part.lower[1] - block.lower[1];
    std::transform(to, to + part.extent[1], terms + row * part.extent[1], to, std::plus<T>());
  }
}

}  // namespace

template <class T>
std::int64_t layer_sum_bytes(const CannonGrid& grid, const GlobalMatrix<T>& c) {
  return grid.shape().layers * static_cast<std::int64_t>(c.local().size_bytes());
}

template <class T>
void add_tiles(const gas::Team& team, const CannonGrid& grid, const T* tile, T beta, GlobalMatrix<T>& c) {
  constexpr auto bytes = static_cast<std::int64_t>(sizeof(T));
  gas::Segment copies(team, static_cast<std::size_t>(layer_sum_bytes(grid, c)), 1);
  const int rank = team.rank();
  std::vector<gas::Event> events;
  if (rank < grid.workers()) {
    const Range rows = grid.rows(rank);
    const Range columns = grid.columns(rank);
    for (int turn = 0; turn < team.size(); ++turn) {
      const int owner = (rank + turn) % team.size();
      for (const gas::Box<2>& block : c.boxes(owner)) {
        if (const gas::Box<2> part = common(grid, rank, block); part.count() > 0) {
          gas::Put put = copies.start_put_signal(
              {owner, static_cast<std::size_t>(position(grid, rank, part, block) * bytes)},
              layout::Layout::contiguous(part.count() * bytes), reinterpret_cast<const std::byte*>(tile),
              within(part, {rows.lower, columns.lower}, {rows.extent, columns.extent}, bytes), 0);
          events.push_back(std::move(put.source));
          events.push_back(std::move(put.remote));
        }
      }
    }
  }
  gas::Event sent = gas::all_of(events);
  try {
    for (const gas::Box<2>& block : c.boxes(rank)) {
      std::vector<std::pair<gas::Box<2>, const T*>> parts;
      for (int worker = 0; worker < grid.workers(); ++worker) {
        if (const gas::Box<2> part = common(grid, worker, block); part.count() > 0) {
          parts.emplace_back(part, copies.local_as<T>().data() + position(grid, worker, part, block));
        }
      }
      copies.wait(0, parts.size());
      T* elements = c.local().data();
      scale(npy::data_type<T>(), block.extent[0], block.extent[1], std::complex<double>(beta),
            reinterpret_cast<std::byte*>(elements), block.extent[1]);
      for (const auto& [part, terms] : parts) {
        add(part, terms, block, elements);
      }
    }
    sent.wait();
  } catch (...) {
    sent.abandon();  // the tile is the caller's
    throw;
  }
  team.barrier();  // nobody puts into these copies any more
}

template std::int64_t layer_sum_bytes(const CannonGrid&, const GlobalMatrix<float>&);
template std::int64_t layer_sum_bytes(const CannonGrid&, const GlobalMatrix<double>&);
template std::int64_t layer_sum_bytes(const CannonGrid&, const GlobalMatrix<std::complex<float>>&);
template std::int64_t layer_sum_bytes(const CannonGrid&, const GlobalMatrix<std::complex<double>>&);
template void add_tiles(const gas::Team&, const CannonGrid&, const float*, float, GlobalMatrix<float>&);
template void add_tiles(const gas::Team&, const CannonGrid&, const double*, double, GlobalMatrix<double>&);
template void add_tiles(const gas::Team&, const CannonGrid&, const std::complex<float>*, std::complex<float>,
                        GlobalMatrix<std::complex<float>>&);
template void add_tiles(const gas::Team&, const CannonGrid&, const std::complex<double>*, std::complex<double>,
                        GlobalMatrix<std::complex<double>>&);

}  // namespace penstock::gemm

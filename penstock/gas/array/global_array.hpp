// Global arrays, as in UPC: one array dealt out over the memory of all ranks. Every rank reads and writes elements and
// boxes by their index in the whole array. Included by gas.hpp.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "penstock/gas/array/distribution.hpp"
#include "penstock/gas/core/segment.hpp"
#include "penstock/shape/shape.hpp"

#pragma GCC visibility push(default)

namespace penstock::gas {

/// A number for each dimension, slowest in memory first: an index, extents or strides.
using shape::Index;

/// `extent` elements from `lower` on in each dimension.
template <std::size_t dimensions>
using Box = shape::BoxOf<dimensions>;

/// The extents of a global array and its distribution: each dimension is dealt out in blocks, to the ranks along that
/// dimension of a grid in turn.
template <std::size_t dimensions>
struct ArrayShape {
  Index<dimensions> extents;
  /// 0: one block a rank, as even as blocks of one size can be (UPC's [*]). 1: cyclic (UPC's default). The whole
  /// extent: the dimension is undivided.
  Index<dimensions> blocks{};
  /// The ranks along each dimension. The grid may have fewer ranks than the team: the others own nothing. 0: chosen so
  /// that the ranks' boxes are near to cubes.
  std::array<int, dimensions> grid{};
};

/// The element types of global arrays.
template <class T>
concept ArrayElement = std::is_trivially_copyable_v<T> && std::default_initializable<T>;

/// A dense box of elements in C order (the last index changes fastest), in memory that this process has mapped.
template <class T, std::size_t dimensions>
struct View {
  T* data = nullptr;
  Index<dimensions> extents{};

  T& operator[](const Index<dimensions>& position) const noexcept {
    std::int64_t element = 0;
    for (std::size_t d = 0; d < dimensions; ++d) {
      element = element * extents[d] + position[d];
    }
    return data[element];
  }
  template <std::integral... Position>
  requires(sizeof...(Position) == dimensions) T& operator()(Position... position) const noexcept {
    return (*this)[{static_cast<std::int64_t>(position)...}];
  }
};

/// The part of global arrays that does not depend on the element type; for GlobalArray alone to call.
class ArrayStorage {
 public:
  ArrayStorage(const Team& team, std::span<const std::int64_t> extents, std::span<const std::int64_t> blocks,
               std::span<const int> grid, std::size_t element_bytes, std::size_t signals);

  /// A box of the array, and its strides in this rank's memory: the distance between neighbours in each dimension, in
  /// elements. No strides: dense.
  struct StridedBox {
    std::span<const std::int64_t> first;
    std::span<const std::int64_t> extents;
    std::span<const std::int64_t> strides;
  };
  Put start_put(const StridedBox& part, const std::byte* data);
  Event start_get(const StridedBox& part, std::byte* data);
  /// Throws Error unless the box has so many elements.
  static void check_count(std::span<const std::int64_t> extents, std::size_t elements);

  const Distribution& distribution() const noexcept { return distribution_; }
  Segment& segment() noexcept { return segment_; }
  const Segment& segment() const noexcept { return segment_; }
  int rank() const noexcept { return rank_; }

 private:
  std::size_t element_bytes_;
  int rank_;
  Distribution distribution_;
  Segment segment_;
};

/// An array whose elements lie on the ranks of a team, block-cyclic in each dimension.
///
/// Movable, not copyable. Elements begin as zeros. Each rank keeps its elements as one dense box in C order (`view`),
/// in the order of their indices, in a segment of its own. Elements on peers whose memory is mapped are read and
/// written in place; others go through the network, one transfer for each owner (see Segment). Puts and gets that are
/// under way together are in no order. A rank sees what another has put after a barrier that follows the end of the
/// put. Destroy the array when the peers are done with this rank's part. Indices outside of the array throw Error, and
/// nothing is moved.
template <ArrayElement T, std::size_t dimensions>
class GlobalArray {
  static_assert(dimensions >= 1);

 public:
  /// Collective, with the same shape on all ranks. The team must outlive the array. `signals` is the number of signals
  /// of the array's segment. Throws Error on every rank for a shape that is not possible or not the same on all ranks,
  /// and where one rank has not the memory.
  explicit GlobalArray(const Team& team, const ArrayShape<dimensions>& shape, std::size_t signals = 0)
      : storage_(team, shape.extents, shape.blocks, shape.grid, sizeof(T), signals) {}

  Index<dimensions> extents() const noexcept {
    return each([](const BlockCyclic& dimension) { return dimension.extent(); });
  }
  Index<dimensions> blocks() const noexcept {
    return each([](const BlockCyclic& dimension) { return dimension.block(); });
  }
  Index<dimensions> grid() const noexcept {
    return each([](const BlockCyclic& dimension) { return dimension.owners(); });
  }

  /// The owner of an element, and the element's place in the segment. Throw Error for an index outside of the array.
  int owner(const Index<dimensions>& index) const { return storage_.distribution().place(index).rank; }
  Pointer<T> pointer(const Index<dimensions>& index) const {
    const auto [rank, element] = storage_.distribution().place(index);
    return Pointer<T>{rank, 0} + static_cast<std::size_t>(element);
  }
  /// The blocks that `rank` owns, in C order. In a block distribution a rank has one or none.
  std::vector<Box<dimensions>> boxes(int rank) const;

  T get(const Index<dimensions>& index) {
    T value;
    storage_.segment().get(pointer(index), {&value, 1});
    return value;
  }
  void put(const Index<dimensions>& index, const T& value) { storage_.segment().put(pointer(index), {&value, 1}); }
  /// As Segment's.
  T fetch_add(const Index<dimensions>& index, T value) requires AtomicWord<T> {
    return storage_.segment().fetch_add(pointer(index), value);
  }
  T compare_swap(const Index<dimensions>& index, T expected, T desired) requires AtomicWord<T> {
    return storage_.segment().compare_swap(pointer(index), expected, desired);
  }

  /// Writes or reads the elements of a box, which may lie on any ranks. `data` has the elements in C order, and as many
  /// as the box (else Error). `put` and `get` return when all is there; the others only begin.
  void put(const Box<dimensions>& box, std::span<const T> data) { start_put(box, data).wait_or_abandon(); }
  Put start_put(const Box<dimensions>& box, std::span<const T> data) {
    ArrayStorage::check_count(box.extent, data.size());
    return storage_.start_put({box.lower, box.extent, {}}, std::as_bytes(data).data());
  }
  void get(const Box<dimensions>& box, std::span<T> data) { start_get(box, data).wait_or_abandon(); }
  Event start_get(const Box<dimensions>& box, std::span<T> data) {
    ArrayStorage::check_count(box.extent, data.size());
    return storage_.start_get({box.lower, box.extent, {}}, std::as_writable_bytes(data).data());
  }
  /// As above, for a box that lies in a larger array here, or transposed. Neighbours in dimension d are strides[d]
  /// elements apart, and the first element is at `data`. With get, no two elements may share their place.
  Put start_put(const Box<dimensions>& box, const T* data, const Index<dimensions>& strides) {
    return storage_.start_put({box.lower, box.extent, strides}, reinterpret_cast<const std::byte*>(data));
  }
  Event start_get(const Box<dimensions>& box, T* data, const Index<dimensions>& strides) {
    return storage_.start_get({box.lower, box.extent, strides}, reinterpret_cast<std::byte*>(data));
  }

  /// This rank's elements.
  std::span<T> local() const noexcept { return storage_.segment().template local_as<T>(); }
  View<T, dimensions> view() const { return view_at(storage_.rank()); }
  /// The elements of `rank`; `data` is nullptr where they are not mapped in this process.
  View<T, dimensions> view_at(int rank) const {
    View<T, dimensions> view{.data = reinterpret_cast<T*>(storage_.segment().address_at(rank))};
    std::ranges::copy(storage_.distribution().extents_of(rank), view.extents.begin());
    return view;
  }

  /// Calls visit(index, element) for each of this rank's elements, in their order in memory. `index` is the element's
  /// index in the whole array.
  template <std::invocable<const Index<dimensions>&, T&> Visit>
  void for_each_local(Visit&& visit) const {
    if (!local().empty()) {
      Index<dimensions> index;
      T* element = local().data();
      walk<0>(storage_.distribution().coordinates(storage_.rank()), index, element, visit);
    }
  }

  /// The segment that holds the array: for its signals, and for operations that begin at a `pointer`.
  Segment& segment() noexcept { return storage_.segment(); }

 private:
  template <class Of>
  Index<dimensions> each(const Of& of) const noexcept {
    Index<dimensions> values{};  // GCC 12 does not see that all of it is filled
    std::ranges::transform(storage_.distribution().dimensions(), values.begin(), of);
    return values;
  }

  template <std::size_t d, class Visit>
  void walk(const std::vector<int>& coordinates, Index<dimensions>& index, T*& element, Visit& visit) const {
    const BlockCyclic& dimension = storage_.distribution().dimensions()[d];
    for (std::int64_t first = coordinates[d] * dimension.block(); first < dimension.extent();
         first += dimension.cycle()) {
      const std::int64_t end = std::min(first + dimension.block(), dimension.extent());
      for (index[d] = first; index[d] < end; ++index[d]) {
        if constexpr (d + 1 == dimensions) {
          visit(std::as_const(index), *element++);
        } else {
          walk<d + 1>(coordinates, index, element, visit);
        }
      }
    }
  }

  ArrayStorage storage_;
};

template <ArrayElement T, std::size_t dimensions>
std::vector<Box<dimensions>> GlobalArray<T, dimensions>::boxes(int rank) const {
  const std::vector<int> coordinates = storage_.distribution().coordinates(rank);
  std::vector<Box<dimensions>> boxes;
  if (!coordinates.empty()) {
    boxes.emplace_back();
  }
  // Each dimension multiplies what there is by its blocks.
  for (std::size_t d = 0; d < dimensions && !boxes.empty(); ++d) {
    const BlockCyclic& dimension = storage_.distribution().dimensions()[d];
    std::vector<Box<dimensions>> longer;
    for (Box<dimensions> box : boxes) {
      for (box.lower[d] = coordinates[d] * dimension.block(); box.lower[d] < dimension.extent();
           box.lower[d] += dimension.cycle()) {
        box.extent[d] = std::min(dimension.block(), dimension.extent() - box.lower[d]);
        longer.push_back(box);
      }
    }
    boxes = std::move(longer);
  }
  return boxes;
}

}  // namespace penstock::gas

#pragma GCC visibility pop

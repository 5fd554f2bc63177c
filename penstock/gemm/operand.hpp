// A factor of a product on ranks, with its op: which of its boxes this rank can multiply where they lie, and gets of
// others.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include "penstock/gas/gas.hpp"
#include "penstock/gemm/distributed.hpp"
#include "penstock/gemm/range.hpp"
#include "penstock/layout/layout.hpp"

namespace penstock::gemm {

/// The block that begins so many rows and columns further on.
template <class T>
Block moved(Block block, std::int64_t rows, std::int64_t columns) {
  const std::int64_t elements = block.is_transposed ? columns * block.leading + rows : rows * block.leading + columns;
  block.data += elements * static_cast<std::int64_t>(sizeof(T));
  return block;
}

/// A matrix in one block a rank, as op turns it.
template <class T>
class Operand {
 public:
  Operand(GlobalMatrix<T>& matrix, Op op) : matrix_(matrix), op_(op) {}

  bool is_turned() const noexcept { return op_ != Op::none; }
  std::int64_t extent(std::size_t dimension) const { return matrix_.extents()[turned(dimension)]; }
  /// The length of the blocks along a dimension of op(matrix).
  std::int64_t block(std::size_t dimension) const { return matrix_.blocks()[turned(dimension)]; }

  /// Where this rank can multiply the box in place: not where a part of it lies on a rank that it does not map.
  std::optional<Block> in_place(const Range& rows, const Range& columns) const {
    const gas::Box<2> box = box_of(rows, columns);
    const int owner = matrix_.owner(box.lower);
    const auto view = matrix_.view_at(owner);
    const gas::Index<2> last{box.lower[0] + box.extent[0] - 1, box.lower[1] + box.extent[1] - 1};
    if (view.data == nullptr || matrix_.owner(last) != owner) {
      return std::nullopt;
    }
    const gas::Index<2> position{box.lower[0] % matrix_.blocks()[0], box.lower[1] % matrix_.blocks()[1]};
    return block_at(reinterpret_cast<const std::byte*>(&view[position]), view.extents[1]);
  }

  /// The parts of a box that lie on one rank each.
  struct RankPart {
    int rank;
    Range rows;
    Range columns;
    std::int64_t before = 0;  ///< elements of the parts before it
    std::int64_t elements() const noexcept { return rows.extent * columns.extent; }
  };
  std::vector<RankPart> parts(const Range& rows, const Range& columns) const {
    std::vector<RankPart> parts;
    std::int64_t before = 0;
    for (const Range& some_rows : cut(rows, block(0), rows.extent)) {
      for (const Range& some_columns : cut(columns, block(1), columns.extent)) {
        parts.push_back({matrix_.owner(box_of(some_rows, some_columns).lower), some_rows, some_columns, before});
        before += parts.back().elements();
      }
    }
    return parts;
  }

  /// The layout of a block of these rows and columns, around its first element.
  layout::Layout layout_of(const Block& block, const Range& rows, const Range& columns) const {
    constexpr auto bytes = static_cast<std::int64_t>(sizeof(T));
    const gas::Box<2> box = box_of(rows, columns);
    const std::array<layout::Level, 2> levels{{{box.extent[0], block.leading * bytes}, {box.extent[1], bytes}}};
    return layout::Layout::nest(0, levels, bytes);
  }

  gas::Event start_get(const Range& rows, const Range& columns, std::span<T> into) {
    return matrix_.start_get(box_of(rows, columns), into);
  }
  /// A box that `start_get` brought.
  Block fetched(const Range& rows, const Range& columns, const T* data) const {
    return block_at(reinterpret_cast<const std::byte*>(data), box_of(rows, columns).extent[1]);
  }

 private:
  std::size_t turned(std::size_t dimension) const noexcept { return is_turned() ? 1 - dimension : dimension; }
  gas::Box<2> box_of(const Range& rows, const Range& columns) const {
    return is_turned() ? gas::Box<2>{{columns.lower, rows.lower}, {columns.extent, rows.extent}}
                       : gas::Box<2>{{rows.lower, columns.lower}, {rows.extent, columns.extent}};
  }
  Block block_at(const std::byte* data, std::int64_t leading) const {
    return {.data = data,
            .leading = leading,
            .is_transposed = is_turned(),
            .is_conjugated = op_ == Op::conjugate_transpose && npy::is_complex(npy::data_type<T>())};
  }

  GlobalMatrix<T>& matrix_;
  Op op_;
};

}  // namespace penstock::gemm

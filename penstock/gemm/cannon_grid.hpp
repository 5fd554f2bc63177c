// The grid of workers: which tile of C, and which panels along k, each rank multiplies. Workers walk the panels in
// Cannon's skewed order, on any grid and in layers.
#pragma once

#include <cstdint>
#include <optional>

#include "penstock/gemm/range.hpp"

namespace penstock::gemm {

/// The factors of a product.
enum class Factor { a, b };

/// Workers in `layers` layers of `rows` x `columns`. Worker (l, i, j) makes of C's tile (i, j) the terms of the l-th
/// part of k; the parts of a tile are summed up over the layers. Worker w is rank w; ranks beyond have no work.
///
/// Along k a worker walks panels no deeper than `depth`, one at each step. A layer's part of k is cut into as many
/// chunks as rows and columns have a least common multiple of, and the chunks into panels; in each round of steps a
/// worker sees one panel of each chunk, beginning with another chunk than its neighbours (Cannon's skew), so that at no
/// step two workers of a row want the same panel of A, or of a column the same of B. Where there are as many chunks as
/// workers in the row, each panel of A moves on to the left neighbour from step to step: on square grids this is
/// Cannon's algorithm, and otherwise the generalised one of Lee, Robertson and Fortes 1997.
class CannonGrid {
 public:
  struct Shape {
    int layers = 1;
    int rows = 1;
    int columns = 1;
    bool operator==(const Shape&) const = default;
  };
  struct Size {
    std::int64_t m = 0;
    std::int64_t n = 0;
    std::int64_t k = 0;
  };

  /// Tiles of `row_block` x `column_block` elements.
  CannonGrid(const Shape& shape, const Size& size, std::int64_t row_block, std::int64_t column_block,
             std::int64_t max_depth);
  /// The same with tiles as even as they can be.
  CannonGrid(const Shape& shape, const Size& size, std::int64_t max_depth);

  const Shape& shape() const noexcept { return shape_; }
  std::int64_t row_block() const noexcept { return row_block_; }
  std::int64_t column_block() const noexcept { return column_block_; }
  /// Of the deepest panel.
  std::int64_t depth() const noexcept { return depth_; }
  int workers() const noexcept { return shape_.layers * shape_.rows * shape_.columns; }
  int steps() const noexcept { return rounds_ * chunks_; }

  /// A worker's tile of C.
  Range rows(int worker) const noexcept;
  Range columns(int worker) const noexcept;
  /// The panel of a step, in k; may be empty.
  Range panel(int worker, int step) const noexcept;

  /// The worker that had this panel of a factor at the step before; none where it comes from its owners.
  std::optional<int> before(Factor factor, int worker, int step) const noexcept;

 private:
  struct Coordinates {
    int layer;
    int row;
    int column;
  };
  Coordinates place(int worker) const noexcept;

  Shape shape_;
  Size size_;
  std::int64_t row_block_;
  std::int64_t column_block_;
  std::int64_t layer_block_;  // of k
  int chunks_;                // of a layer's part of k
  std::int64_t chunk_block_;
  std::int64_t depth_;
  int rounds_;
};

}  // namespace penstock::gemm

#include "penstock/gemm/cannon_grid.hpp"

#include <algorithm>
#include <numeric>

#include "penstock/base/numbers.hpp"

namespace penstock::gemm {
namespace {

std::int64_t share(std::int64_t count, std::int64_t of) {
  return std::max<std::int64_t>(divide_up(count, of), 1);
}

}  // namespace

CannonGrid::CannonGrid(const Shape& shape, const Size& size, std::int64_t row_block, std::int64_t column_block,
                       std::int64_t max_depth)
    : shape_(shape),
      size_(size),
      row_block_(row_block),
      column_block_(column_block),
      layer_block_(share(size.k, shape.layers)),
      chunks_(std::lcm(shape.rows, shape.columns)),
      chunk_block_(share(layer_block_, chunks_)),
      depth_(share(chunk_block_, share(chunk_block_, max_depth))),
      rounds_(static_cast<int>(share(chunk_block_, depth_))) {}

CannonGrid::CannonGrid(const Shape& shape, const Size& size, std::int64_t max_depth)
    : CannonGrid(shape, size, share(size.m, shape.rows), share(size.n, shape.columns), max_depth) {}

CannonGrid::Coordinates CannonGrid::place(int worker) const noexcept {
  return {worker / (shape_.rows * shape_.columns), worker / shape_.columns % shape_.rows, worker % shape_.columns};
}

Range CannonGrid::rows(int worker) const noexcept {
  return block_of({0, size_.m}, row_block_, place(worker).row);
}

Range CannonGrid::columns(int worker) const noexcept {
  return block_of({0, size_.n}, column_block_, place(worker).column);
}

Range CannonGrid::panel(int worker, int step) const noexcept {
  const Coordinates at = place(worker);
  const int skew = at.row * (chunks_ / shape_.rows) + at.column * (chunks_ / shape_.columns);
  const int chunk = (step % chunks_ + skew) % chunks_;
  const Range layer = block_of({0, size_.k}, layer_block_, at.layer);
  return block_of(block_of(layer, chunk_block_, chunk), depth_, step / chunks_);
}

std::optional<int> CannonGrid::before(Factor factor, int worker, int step) const noexcept {
  const int ring = factor == Factor::a ? shape_.columns : shape_.rows;
  if (ring == 1 || ring != chunks_ || step % chunks_ == 0) {
    return std::nullopt;
  }
  // The next in the row, or in the column, one step ahead in the skew.
  const Coordinates at = place(worker);
  const int row = factor == Factor::a ? at.row : (at.row + 1) % shape_.rows;
  const int column = factor == Factor::a ? (at.column + 1) % shape_.columns : at.column;
  return (at.layer * shape_.rows + row) * shape_.columns + column;
}

}  // namespace penstock::gemm

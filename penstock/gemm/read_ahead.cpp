#include "penstock/gemm/read_ahead.hpp"

#include <algorithm>
#include <vector>

#include "penstock/base/base.hpp"

namespace penstock::gemm {

using percolate::Transfer;

std::int64_t layers_ahead(const model::Product& product, const model::Tiling& tiling, std::uint64_t cache_bytes) {
  // Of a row of A: as long as disks want their requests to be.
  constexpr std::int64_t run_bytes = std::int64_t{128} << 10;
  const std::int64_t wanted = divide_up(run_bytes, tiling.depth * product.element_bytes);
  // Those that are being read and those asked for next; twice that, as the system keeps what has been read for a while.
  constexpr std::int64_t groups = 4;
  const std::int64_t layer_bytes = (tiling.tile_m + tiling.tile_n) * tiling.depth * product.element_bytes;
  const auto room = static_cast<std::int64_t>(std::min<std::uint64_t>(cache_bytes, std::int64_t{1} << 60));
  return std::min(wanted, room / (groups * layer_bytes));
}

std::int64_t lines_of(const FileMatrix& matrix, const Submatrix& box) noexcept {
  return matrix.is_transposed() ? box.columns : box.rows;
}

Submatrix part_of(const FileMatrix& matrix, Submatrix box, std::int64_t part, std::int64_t parts) noexcept {
  const std::int64_t lines = lines_of(matrix, box);
  const std::int64_t begin = lines * part / parts;
  const std::int64_t end = lines * (part + 1) / parts;
  (matrix.is_transposed() ? box.column : box.row) += begin;
  (matrix.is_transposed() ? box.columns : box.rows) = end - begin;
  return box;
}

double rate_of_blocks(percolate::Engine& engine, const FileMatrix& matrix, const Submatrix& box, std::int64_t rows,
                      std::int64_t columns, bool is_asked_for) {
  // All blocks go to one place: nobody looks at them.
  const Memory memory(static_cast<std::size_t>(rows * columns * npy::element_bytes(matrix.type())));
  std::vector<Transfer> transfers;
  for (std::int64_t row = 0; row < box.rows; row += rows) {
    for (std::int64_t column = 0; column < box.columns; column += columns) {
      const Submatrix block{.row = box.row + row,
                            .column = box.column + column,
                            .rows = std::min(rows, box.rows - row),
                            .columns = std::min(columns, box.columns - column)};
      transfers.push_back(matrix.transfer(block, memory.data(), Transfer::Kind::read));
    }
  }
  if (is_asked_for && !transfers.empty()) {
    transfers.insert(transfers.begin(), matrix.transfer(box, nullptr, Transfer::Kind::read_ahead));
  }
  return percolate::measure_transfers(engine, transfers);
}

}  // namespace penstock::gemm

// Boxes of op(A) become boxes of the file: rows and columns change places where op or the file's order turn them.
#include "penstock/gemm/file_matrix.hpp"

#include <fmt/format.h>

#include <utility>

#include "penstock/base/checksum.hpp"
#include "penstock/base/error.hpp"

namespace penstock::gemm {

FileMatrix::FileMatrix(const std::string& path, Op op)
    : FileMatrix(File::open(path), npy::read_header(path, npy::Orders::c_and_fortran), op) {}

FileMatrix::FileMatrix(File file, npy::Header header, Op op)
    : file_(std::move(file)), header_(std::move(header)), is_turned_(op != Op::none) {
  if (header_.shape.size() != 2) {
    throw Error(fmt::format("'{}' is an array of {} dimensions, and a matrix has 2: reshape it", file_.path(),
                            header_.shape.size()));
  }
  is_conjugated_ = op == Op::conjugate_transpose && npy::is_complex(header_.type);
}

percolate::Transfer FileMatrix::transfer(const Submatrix& box, std::byte* data, percolate::Transfer::Kind kind) const {
  const std::int64_t width = npy::element_bytes(header_.type);
  // Of the file: lines of neighbouring elements.
  const bool by_columns = is_transposed();
  const std::int64_t line_elements = by_columns ? rows() : columns();
  const std::int64_t line = by_columns ? box.column : box.row;
  const std::int64_t within = by_columns ? box.row : box.column;
  const std::int64_t lines = by_columns ? box.columns : box.rows;
  const std::int64_t run = by_columns ? box.rows : box.columns;
  percolate::Transfer transfer{.kind = kind,
                               .file = &file_,
                               .offset = header_.data_offset + (line * line_elements + within) * width,
                               .data = data,
                               .run_bytes = static_cast<std::size_t>(run * width),
                               .runs = static_cast<std::size_t>(lines),
                               .file_pitch = line_elements * width,
                               .memory_pitch = run * width};
  if (run == line_elements) {  // whole lines: one run
    transfer.run_bytes *= transfer.runs;
    transfer.runs = 1;
  }
  return transfer;
}

Block FileMatrix::block(const Submatrix& box, const std::byte* data) const noexcept {
  const bool by_columns = is_transposed();
  return {.data = data,
          .leading = by_columns ? box.rows : box.columns,
          .is_transposed = by_columns,
          .is_conjugated = is_conjugated_};
}

}  // namespace penstock::gemm

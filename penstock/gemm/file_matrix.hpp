// A matrix in an array file, as a multiply reads it: op(A), whatever the order of the file.
#pragma once

#include <cstdint>
#include <string>

#include "penstock/base/file.hpp"
#include "penstock/gemm/blas.hpp"
#include "penstock/npy/npy.hpp"
#include "penstock/percolate/percolate.hpp"

namespace penstock::gemm {

/// Rows and columns of what is multiplied.
struct Submatrix {
  std::int64_t row = 0;
  std::int64_t column = 0;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
};

/// Movable. The transfers that it makes live no longer than it.
class FileMatrix {
 public:
  FileMatrix() = default;
  /// Opens the matrix op(`path`). Throws Error for files that are no matrices.
  FileMatrix(const std::string& path, Op op);
  /// A matrix of `header` in a file that is open already.
  FileMatrix(File file, npy::Header header, Op op);

  npy::DataType type() const noexcept { return header_.type; }
  const File& file() const noexcept { return file_; }
  const npy::Header& header() const noexcept { return header_; }
  std::int64_t rows() const noexcept { return is_turned_ ? header_.shape[1] : header_.shape[0]; }
  std::int64_t columns() const noexcept { return is_turned_ ? header_.shape[0] : header_.shape[1]; }
  /// Where neighbours in the file are neighbours in a column of op(A), not in a row.
  bool is_transposed() const noexcept { return is_turned_ != header_.is_fortran_order; }
  /// The matrix transposed once more: (A B)^T = B^T A^T turns a product whose C lies by columns into one by rows.
  void turn() noexcept { is_turned_ = !is_turned_; }

  /// A box to or from memory, where it lies densely, neighbours as in the file.
  percolate::Transfer transfer(const Submatrix& box, std::byte* data, percolate::Transfer::Kind kind) const;
  /// A box that `transfer` has brought to memory.
  Block block(const Submatrix& box, const std::byte* data) const noexcept;

 private:
  File file_;
  npy::Header header_;
  bool is_turned_ = false;      // op transposes
  bool is_conjugated_ = false;  // op conjugates
};

}  // namespace penstock::gemm

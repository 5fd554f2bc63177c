// The matrices that a product in files reads, opened and checked to fit together.
#pragma once

#include <optional>

#include "penstock/gemm/file_matrix.hpp"
#include "penstock/gemm/out_of_core.hpp"
#include "penstock/journal/journal.hpp"
#include "penstock/model/model.hpp"

namespace penstock::gemm {

struct FileInputs {
  FileInputs() = default;
  /// Throws Error for files that cannot be used or do not fit together.
  explicit FileInputs(const FileProduct& product);

  /// What must be as it was for a run to go on.
  journal::ResumeKey resume_key(const FileProduct& product, bool verifies_input) const;
  /// What is multiplied, as it is turned.
  model::Product product() const;

  bool is_turned = false;  ///< C^T = op(B)^T op(A)^T is made, as C lies by columns: a is then op(B)^T
  FileMatrix a;
  FileMatrix b;
  std::optional<FileMatrix> c_before;
  npy::Header c_header;

 private:
  void check_shapes(const FileProduct& product) const;
};

}  // namespace penstock::gemm

// C = alpha op(A) op(B) + beta C of matrices in files, which may be larger than memory. Included by gemm.hpp.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "penstock/gemm/blas.hpp"
#include "penstock/outofcore/outofcore.hpp"

#pragma GCC visibility push(default)

namespace penstock::gemm {

/// The files of a product: paths of .npy files, of one type of element, in C or Fortran order. C must be neither A nor
/// B (else Error). An existing C is replaced when the new one is complete. With a beta other than 0 C must exist, and
/// keeps its order; otherwise it is written in C order.
struct FileProduct {
  std::string a;
  std::string b;
  std::string c;
  Op op_a = Op::none;
  Op op_b = Op::none;
  Scalars scalars = {};
};

/// Options of the work. Progress is reported in flops.
struct FileOptions : outofcore::Options {
  /// Whether blocks are kept for later tiles in unnamed files in C's folder, as large as A and B.
  bool uses_scratch = true;
  /// Whether the rates of the first reads of A and B are measured beforehand. They are always measured where no machine
  /// is given.
  bool measures_inputs = false;
};

/// The decisions that are made before the work begins.
struct FilePlan {
  npy::DataType type = npy::DataType::float64;
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  std::int64_t tile_m = 0;
  std::int64_t tile_n = 0;
  std::int64_t strip = 0;
  std::int64_t depth = 0;
  std::int64_t block_bytes = 0;     ///< memory for blocks
  std::int64_t reserved_bytes = 0;  ///< memory for everything else that memory_bytes counts
  std::int64_t scratch_bytes = 0;   ///< disk space of scratch files; 0 where they do not help or fit, or are not wanted
  std::string engine;
  std::int64_t layers_ahead = 0;   ///< layers of a tile that are prefetched into the page cache together
  double rate_flops = 0;           ///< of all threads, measured or the machine's
  double storage_bytes_per_s = 0;  ///< likewise
  double first_a_bytes_per_s = 0;  ///< the rate at which A's blocks are read from A's file; 0: not measured
  double first_b_bytes_per_s = 0;  ///< likewise, of B
  double predicted_s = 0;          ///< the model's time for this run
  double percolation_s = 0;        ///< the same by eq. 5 of Amaral et al., which hides no movement behind multiplies
  std::int64_t tiles = 0;
  std::int64_t tiles_found = 0;  ///< complete tiles of an earlier run
  std::int64_t tiles_torn = 0;   ///< tiles that an earlier run completed, but that are not what it wrote
  bool was_complete = false;     ///< C is complete already; `run` only removes the journal
};

struct FileResult {
  percolate::RunTimes times;
  double flops = 0;  ///< of this run
};

/// A product of matrices in files, planned by the constructor. With the same sizes, memory and threads the result is
/// the same to the last bit, also where a run was interrupted.
///
/// C is written as its path + ".part" and renamed when it is complete. A journal, C's path + ".journal", lists the
/// complete tiles. Where both files are found, the run resumes; it throws Error if the product or an input is not the
/// same as then. A resumed run keeps the journal's tiling. It may use up to a thirty-second more memory than it is
/// given, since what a process needs besides blocks varies from run to run. Tiles are compared with the journal's
/// checksums before they are trusted. Both files stay after a failure or a kill, and are removed after success. One
/// thread uses an object at a time.
class FileMultiply {
 public:
  /// Throws Error for files that cannot be used or do not fit together, for too little memory or disk, for a machine
  /// without a GEMM rate or the memory level "storage", where the journal is of another product or an input has changed
  /// since the run to be resumed began, and where another process makes the same C.
  FileMultiply(const FileProduct& product, const FileOptions& options);
  ~FileMultiply();
  FileMultiply(const FileMultiply&) = delete;
  FileMultiply& operator=(const FileMultiply&) = delete;

  const FilePlan& plan() const noexcept;
  /// Makes C; to be called once. Throws Error where that fails; what was done is kept for the next run.
  FileResult run();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace penstock::gemm

#pragma GCC visibility pop

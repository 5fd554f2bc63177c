// C = alpha op(A) op(B) + beta C of matrices in files, larger than memory. Included by gemm.hpp.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "penstock/gemm/blas.hpp"
#include "penstock/outofcore/outofcore.hpp"

namespace penstock::gemm {

/// Paths of .npy files, of one type of element, in C or Fortran order. C is made, or replaced when it is complete; with
/// a beta other than 0 it must be there, and keeps its order, else it is in C order.
struct FileProduct {
  std::string a;
  std::string b;
  std::string c;
  Op op_a = Op::none;
  Op op_b = Op::none;
  Scalars scalars = {};
};

/// Told of progress in flops.
struct FileOptions : outofcore::Options {
  /// Whether blocks are kept for later tiles in files without names in C's folder, as large as A and B.
  bool uses_scratch = true;
  /// Whether the first blocks of A and B are read beforehand, to see how fast they come; so they are where no machine
  /// is given.
  bool measures_inputs = false;
};

/// What was decided before the work begins.
struct FilePlan {
  npy::DataType type = npy::DataType::float64;
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  std::int64_t tile_m = 0;
  std::int64_t tile_n = 0;
  std::int64_t strip = 0;
  std::int64_t depth = 0;
  std::int64_t block_bytes = 0;     ///< of memory, for blocks
  std::int64_t reserved_bytes = 0;  ///< of memory, for the rest of what memory_bytes counts
  std::int64_t scratch_bytes = 0;   ///< of disk; 0 where it would not help, is not wanted, or has no room
  std::string engine;
  std::int64_t layers_ahead = 0;   ///< of a tile, that the system is asked for before they are read
  double rate_flops = 0;           ///< of all threads, measured or the machine's
  double storage_bytes_per_s = 0;  ///< the same
  double first_a_bytes_per_s = 0;  ///< at which A's blocks come from its own file; 0 where that was not measured
  double first_b_bytes_per_s = 0;  ///< and B's
  double predicted_s = 0;          ///< of this run
  double percolation_s = 0;        ///< the same by eq. 5 of Amaral et al., which hides no movement behind multiplies
  std::int64_t tiles = 0;
  std::int64_t tiles_found = 0;  ///< complete from an earlier run
  std::int64_t tiles_torn = 0;   ///< that an earlier run told of, but whose elements are not what it wrote
  bool was_complete = false;     ///< the result is in its place already
};

struct FileResult {
  percolate::RunTimes times;
  double flops = 0;  ///< of this run
};

/// A product of matrices in files, planned when it is made. With the same sizes, memory and threads the result is the
/// same to the last bit, also where a run was interrupted.
///
/// C is written beside, as C's path + ".part", and renamed when it is complete; a journal, C's path + ".journal", tells
/// of the tiles that are. Where both are found, the run goes on from there: with the tiling of the run that began, if
/// all is as it was then, and with up to a thirty-second more memory than is given, as what a process has besides is
/// never quite the same. Tiles are compared with the journal's checksums before they are trusted. Both files stay after
/// a failure or a kill and go with success. One thread uses it at a time.
class FileMultiply {
 public:
  /// Throws Error for files that cannot be used or do not fit together, too little memory or disk, inputs that have
  /// changed since the run began that this would go on with, and where another process makes the same C.
  FileMultiply(const FileProduct& product, const FileOptions& options);
  ~FileMultiply();
  FileMultiply(const FileMultiply&) = delete;
  FileMultiply& operator=(const FileMultiply&) = delete;

  const FilePlan& plan() const noexcept;
  /// Makes C; once. Throws Error where that fails; what was done is kept for the next run.
  FileResult run();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace penstock::gemm

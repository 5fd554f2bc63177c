// 3-D transforms of fields in files, larger than memory.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "penstock/fft/fft.hpp"
#include "penstock/gas/gas.hpp"
#include "penstock/npy/npy.hpp"
#include "penstock/outofcore/outofcore.hpp"
#include "penstock/percolate/percolate.hpp"

namespace penstock::fft {

/// Paths of .npy files of shape (nz, ny, nx) in C order: a field in space, of complex64 or complex128, and its
/// spectrum, of the same type and shape; or of float32 or float64, and its spectrum, complex and of n/2 + 1 points
/// along x. The output is made, or replaced when it is complete.
struct FileField {
  std::string input;
  std::string output;
  bool is_backward = false;  ///< the input is the spectrum: with exp(+i k x)
  Type type = Type::c2c;     ///< c2c or r2c
  std::int64_t nx = 0;       ///< of a real output: its points along x; 0: even_points of the spectrum's
  Scaling scaling = Scaling::none;
};

/// Of the two numbers of real points whose spectra have so many coefficients, the even one; of one coefficient 1.
std::int64_t even_points(std::int64_t coefficients) noexcept;

/// Told of progress in bytes read and written. `memory_bytes` is of each rank.
using FileOptions = outofcore::Options;

/// How a field is cut for two passes over storage. As a matrix whose rows are planes of the spectrum, one under the
/// other along z: one pass takes slabs of rows, the other columns of points, and between them lie bricks, where the two
/// cross.
struct FileTiling {
  std::int64_t planes = 0;  ///< of a slab
  std::int64_t points = 0;  ///< of a plane, in a column
};

/// What was decided before the work begins.
struct FilePlan {
  npy::DataType type = npy::DataType::complex128;  ///< of the spectrum
  bool is_real = false;                            ///< in space
  Extents size{};                                  ///< points in space
  FileTiling tiling;
  std::int64_t slabs = 0;
  std::int64_t columns = 0;
  std::int64_t brick_bytes = 0;     ///< in the scratch file: what is read or written there at least in one go
  std::int64_t run_bytes = 0;       ///< what is read or written of the spectrum in one go
  std::int64_t block_bytes = 0;     ///< of memory, for slabs or columns
  std::int64_t reserved_bytes = 0;  ///< of memory, for the rest of what memory_bytes counts
  std::int64_t scratch_bytes = 0;   ///< of disk
  std::string engine;
  percolate::StorageRates storage;  ///< measured, or the machine's
  double rate_flops = 0;            ///< the same: of all threads of all ranks
  double predicted_s = 0;           ///< of this run
  std::int64_t slabs_found = 0;     ///< complete from an earlier run
  std::int64_t columns_found = 0;   ///< the same
  std::int64_t pieces_torn = 0;     ///< of the output, told of by an earlier run, but not what it wrote
  bool was_complete = false;        ///< the result is in its place already
};

struct FileResult {
  percolate::RunTimes times;     ///< of both passes and all ranks together; `total_s` until the result is on the disk
  std::int64_t bricks_torn = 0;  ///< found not to be what was written, and made again
};

/// A transform of a field in a file in two passes, each of which reads and writes the field once: along x and y, from
/// the input to a scratch file in the order in which the second pass reads; then along z, to the output. Where the
/// output is real the other way round: along z, then along y and x. Planned when it is made. With the same size, memory
/// and threads the result is the same to the last bit, also where a run was interrupted.
///
/// Several ranks, each a process, share the work where they share the files: of n ranks each takes every n-th slab and
/// column, and has a journal of its own, path + ".journal.1" and so on.
///
/// The output is written beside, as its path + ".part", and renamed when it is complete; the scratch file, path +
/// ".scratch", and the journal, path + ".journal", stay after a failure or a kill and go with success. Where all are
/// found, the run goes on from there, with the tiling of the run that began. What is there of the output is compared
/// with the journal's checksums before it is trusted, and bricks as they arrive. One thread uses it at a time.
class FileTransform {
 public:
  /// Collective over the team, as is `run`; alone without one. Throws Error for files that cannot be used, too little
  /// memory or disk, an input that has changed since the run began that this would go on with, and where another
  /// process makes the same output.
  FileTransform(const gas::Team& team, const FileField& field, const FileOptions& options);
  FileTransform(const FileField& field, const FileOptions& options);
  ~FileTransform();
  FileTransform(const FileTransform&) = delete;
  FileTransform& operator=(const FileTransform&) = delete;

  const FilePlan& plan() const noexcept;
  /// Makes the output; once. Throws Error where that fails; what was done is kept for the next run.
  FileResult run();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace penstock::fft

// 3-D transforms of fields in files, which may be larger than memory.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "penstock/fft/fft.hpp"
#include "penstock/gas/gas.hpp"
#include "penstock/npy/npy.hpp"
#include "penstock/outofcore/outofcore.hpp"
#include "penstock/percolate/percolate.hpp"

#pragma GCC visibility push(default)

namespace penstock::fft {

/// The files of a transform: fields in files as volume.hpp has them, whose elements lie uncompressed, in one piece and
/// little-endian. The field in space is complex64 or complex128, and its spectrum has the same type and shape; or the
/// field is float32 or float64, and its spectrum is complex with n/2 + 1 points along x. The output must not be the
/// input (else Error). An existing output is replaced when the new one is complete.
struct FileField {
  std::string input;
  std::string output;
  bool is_backward = false;  ///< the input is the spectrum, transformed with exp(+i k x)
  Type type = Type::c2c;     ///< c2c or r2c
  std::int64_t nx = 0;       ///< for a real output: its points along x; 0: even_points of the spectrum's points
  Scaling scaling = Scaling::none;
};

/// The even one of the two numbers of real points whose spectra have `coefficients` coefficients; 1 for one
/// coefficient.
std::int64_t even_points(std::int64_t coefficients) noexcept;

/// Options of the work. Progress is reported in bytes read and written by this rank. `memory_bytes` is per rank.
using FileOptions = outofcore::Options;

/// The cut of a field for two passes over storage. The spectrum is seen as a matrix whose rows are its planes, one
/// below the other along z. One pass takes slabs, which are groups of rows; the other takes columns, which are groups
/// of points. A brick is the intersection of a slab and a column.
struct FileTiling {
  std::int64_t planes = 0;  ///< of a slab
  std::int64_t points = 0;  ///< of a plane, in a column
};

/// The decisions that are made before the work begins.
struct FilePlan {
  npy::DataType type = npy::DataType::complex128;  ///< of the elements of the spectrum
  bool is_real = false;                            ///< whether the field in space is real
  Extents size{};                                  ///< points in space
  FileTiling tiling;
  std::int64_t slabs = 0;
  std::int64_t columns = 0;
  std::int64_t brick_bytes = 0;     ///< the size of a brick in the scratch file: the shortest transfer there
  std::int64_t run_bytes = 0;       ///< contiguous bytes of the spectrum's file that belong to one column
  std::int64_t block_bytes = 0;     ///< memory for slabs or columns
  std::int64_t reserved_bytes = 0;  ///< memory for everything else that memory_bytes counts
  std::int64_t scratch_bytes = 0;   ///< disk space of the scratch file
  std::string engine;
  percolate::StorageRates storage;  ///< measured, or of the options' machine
  double rate_flops = 0;            ///< likewise, of all threads of all ranks
  double predicted_s = 0;           ///< the model's time for this run
  std::int64_t slabs_found = 0;     ///< complete slabs of an earlier run
  std::int64_t columns_found = 0;   ///< likewise
  std::int64_t pieces_torn = 0;  ///< pieces of the output that an earlier run completed, but that are not what it wrote
  bool was_complete = false;     ///< the output is complete already; `run` only removes the journal
};

struct FileResult {
  percolate::RunTimes times;  ///< of both passes and all ranks together; `total_s` ends when the result is on the disk
  std::int64_t bricks_torn = 0;  ///< bricks that were not what was written, and were made again
};

/// A transform of a field in a file, in two passes that each read and write the field once. The first pass transforms
/// along x and y, from the input to a scratch file, which it writes in the order in which the second pass reads. The
/// second pass transforms along z and writes the output. For a real output the order is reversed: first along z, then
/// along y and x. The transform is planned by the constructor. With the same size, memory and threads the result is the
/// same to the last bit, also where a run was interrupted.
///
/// Ranks that are processes with access to the same files share the work: of n ranks each takes every n-th slab and
/// column. Each rank has a journal of its own; that of rank r > 0 is path + ".journal.r".
///
/// The output is written as its path + ".part" and renamed when it is complete. This file, the scratch file, path +
/// ".scratch", and the journal, path + ".journal", stay after a failure or a kill, and are removed after success. Where
/// the first and the journal are found, the run resumes, with the journal's tiling. Pieces of the output are compared
/// with the journal's checksums before they are trusted, and bricks when they are read; what differs is made again. One
/// thread uses an object at a time.
class FileTransform {
 public:
  /// Collective over the team, as is `run`; without a team this process works alone. Throws Error for files that cannot
  /// be used, for too little memory or disk, for a machine without the rates that the prediction needs, where the
  /// journal is of another transform or the input has changed since the run to be resumed began, and where another
  /// process makes the same output.
  FileTransform(const gas::Team& team, const FileField& field, const FileOptions& options);
  FileTransform(const FileField& field, const FileOptions& options);
  ~FileTransform();
  FileTransform(const FileTransform&) = delete;
  FileTransform& operator=(const FileTransform&) = delete;

  const FilePlan& plan() const noexcept;
  /// Makes the output; to be called once. Throws Error where that fails; what was done is kept for the next run.
  FileResult run();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace penstock::fft

#pragma GCC visibility pop

// Fields of three dimensions in files, read and written in pieces by many threads or ranks: NumPy's .npy, NIfTI, MRC
// and HDF5.
//
// A field is named by the path of its file. One in an HDF5 file is named by path and dataset, "flow.h5:/velocity/u".
// What is read is known by its content, what is written by the end of its path:
//
// - .nii: NIfTI-1, NIfTI-2 where a direction has more than 32,767 points; .nii.gz: the same, compressed by gzip
// - .mrc, .map, .rec: MRC2014
// - .h5, .hdf5, or a name with a dataset: HDF5, in a dataset that lies in one piece
// - all else: .npy
//
// Elements lie as [z][y][x], x fastest. In NIfTI, x is the first index; in MRC, the column.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/npy/npy.hpp"
#include "penstock/shape/shape.hpp"

#pragma GCC visibility push(default)

namespace penstock::volume {

using shape::Box;
using shape::Extents;

/// The path of the file that the field `name` lies in: `name` without its dataset.
std::string file_path(const std::string& name);

/// Reads pieces of a field. Movable; its reads are thread-safe.
///
/// Integers and half precision are given as float32, or as float64 where they have 32 bits and more. Big-endian
/// elements, and the factors and offsets of NIfTI, are turned into the numbers that they stand for.
class Reader {
 public:
  /// Opens the file and reads what describes it. Throws Error where that is none of the formats or is damaged, where
  /// the field has not three dimensions or no points, where its elements are no numbers or pairs of them, and for an
  /// HDF5 file that has several fields of which `name` names none.
  explicit Reader(const std::string& name);
  ~Reader();
  Reader(Reader&&) noexcept;
  Reader& operator=(Reader&&) noexcept;

  /// The points nx, ny, nz.
  const Extents& size() const noexcept;
  /// The type of the elements that are given.
  npy::DataType type() const noexcept;

  /// Reads the points of `box`, in C order, into `bytes`, which has exactly their size. Throws Error where the box
  /// leaves the field or the file cannot be read. A file compressed by gzip is read from its begin on, and again so
  /// where a box begins before the end of the last one.
  void read_box(const Box& box, std::span<std::byte> bytes) const;

  /// Why the elements cannot be read from the file as they lie, as the end of a sentence: "compressed"; empty where
  /// they can: they then begin at byte `data_offset` of the file, in C order, each of `type`.
  std::string_view obstacle() const noexcept;
  std::int64_t data_offset() const noexcept;

 private:
  friend class Writer;
  struct State;
  std::unique_ptr<State> state_;
};

/// The bytes of a new file before its point 0, for programs that write the elements themselves. Throws Error where the
/// file `name` cannot hold such a field, where it is to be compressed, and where it is an HDF5 file that exists, as
/// other datasets of it would be lost.
std::string header_text(const std::string& name, npy::DataType type, const Extents& size);

/// Writes pieces of a field into a new file, which is named its path + ".part" until it is committed; or into a new
/// dataset of an HDF5 file that exists, which is likewise named by its path in the file + ".part". A file has one
/// writer at a time, which holds the file path + ".part".
///
/// One rank calls `create`; after a barrier the other ranks call `open`, and all ranks write their parts. The other
/// ranks then destroy their writers; after a second barrier the creator commits. A creator that is destroyed without a
/// commit removes what it has made. Movable; its writes are thread-safe.
class Writer {
 public:
  /// Where the elements lie: for the other ranks.
  struct Place {
    std::int64_t data_offset = 0;
    bool is_within_file = false;  ///< of a dataset in a file that exists already
  };

  /// Makes the file, of its full size. Where `like` is a field of the same format and size, what it says of the field's
  /// place in space (voxels, axes, origin) is kept, and of a dataset the attributes. Throws Error where the disk is too
  /// small, where the file cannot be written, and where its format has no elements of `type`.
  static Writer create(const std::string& name, npy::DataType type, const Extents& size, const Reader* like = nullptr);
  /// Opens what `create` has made for the same field, to write parts of it.
  static Writer open(const std::string& name, npy::DataType type, const Extents& size, const Place& place);
  ~Writer();
  Writer(Writer&&) noexcept;
  Writer& operator=(Writer&&) noexcept;

  npy::DataType type() const noexcept;
  const Place& place() const noexcept;
  /// Of the creator, until it commits: the files that are to be removed where the process ends before that.
  std::vector<std::string> unfinished_paths() const;
  /// Writes the points of `box`, given in C order. Throws Error as `Reader::read_box` does.
  void write_box(const Box& box, std::span<const std::byte> bytes) const;
  /// Compresses the file where it is to be, syncs it to the disk and gives it its final name; to be called once, by the
  /// creator only (else Error).
  void commit();

 private:
  struct State;
  explicit Writer(std::unique_ptr<State> state) noexcept;
  std::unique_ptr<State> state_;
};

}  // namespace penstock::volume

#pragma GCC visibility pop

// The tiling of a field in a file: its slabs, columns and bricks, their sizes, and its choice.
#pragma once

#include <cstdint>
#include <string>

#include "penstock/fft/files/files.hpp"
#include "penstock/fft/files/line_transform.hpp"

namespace penstock::fft {

/// The field in space and its spectrum, which have the same points but where the field is real.
struct FileShape {
  Extents points{};                                ///< in space
  npy::DataType type = npy::DataType::complex128;  ///< of the spectrum: complex64 or complex128
  bool is_real = false;

  std::int64_t spectrum_row_points() const noexcept { return is_real ? points[0] / 2 + 1 : points[0]; }
  std::int64_t space_element_bytes() const noexcept { return npy::element_bytes(type) / (is_real ? 2 : 1); }
  npy::DataType space_type() const noexcept;
};

/// A tiling of a field, with what follows from it. Points and elements are those of the spectrum, unless said
/// otherwise: bricks hold them.
class FileCuts {
 public:
  FileCuts() = default;
  FileCuts(const FileShape& shape, const FileTiling& tiling) noexcept;

  const FileShape& shape() const noexcept { return shape_; }
  std::int64_t plane_points() const noexcept { return shape_.spectrum_row_points() * shape_.points[1]; }
  std::int64_t planes() const noexcept { return shape_.points[2]; }
  std::int64_t element_bytes() const noexcept { return npy::element_bytes(shape_.type); }
  std::int64_t plane_bytes() const noexcept { return plane_points() * element_bytes(); }
  /// Of the field in space.
  std::int64_t space_plane_bytes() const noexcept {
    return shape_.points[0] * shape_.points[1] * shape_.space_element_bytes();
  }
  const FileTiling& tiling() const noexcept { return tiling_; }
  std::int64_t slabs() const noexcept { return slabs_; }
  std::int64_t columns() const noexcept { return columns_; }
  /// Of one slab; the last may have less.
  std::int64_t planes_of(std::int64_t slab) const noexcept;
  /// Of one column; the last may have less.
  std::int64_t points_of(std::int64_t column) const noexcept;
  /// What of a brick is points, from its beginning on.
  std::int64_t dense_bytes(std::int64_t slab, std::int64_t column) const noexcept {
    return planes_of(slab) * points_of(column) * element_bytes();
  }
  /// What a brick takes, in memory and in the scratch file: whole pages.
  std::int64_t brick_bytes() const noexcept { return brick_bytes_; }

  /// A slab in space, with what lies beside it on its first and last page of a file; a slab in bricks; a column in
  /// bricks.
  std::int64_t slab_bytes() const noexcept {
    return tiling_.planes * space_plane_bytes() + 2 * File::scratch_alignment;
  }
  std::int64_t slab_bricks_bytes() const noexcept { return columns_ * brick_bytes_; }
  std::int64_t column_bytes() const noexcept { return slabs_ * brick_bytes_; }
  std::int64_t scratch_bytes() const noexcept { return columns_ * column_bytes(); }
  /// What a pass over slabs or columns reads and writes of the fields' own: of the one in space, of the spectrum.
  std::int64_t space_bytes() const noexcept { return planes() * space_plane_bytes(); }
  std::int64_t spectrum_bytes() const noexcept { return planes() * plane_bytes(); }
  /// A plane of the spectrum beside the slab, where it cannot be made in the place of the one in space; else nothing.
  std::int64_t plane_beside_bytes() const noexcept { return shape_.is_real ? plane_bytes() : 0; }

 private:
  FileShape shape_;
  FileTiling tiling_;
  std::int64_t slabs_ = 0;
  std::int64_t columns_ = 0;
  std::int64_t brick_bytes_ = 0;
};

/// Slabs that are in memory at once, in space and in bricks, and columns: for each thread one that it works on,
/// and one that arrives or leaves meanwhile.
struct SlotCounts {
  explicit SlotCounts(int threads) noexcept : slabs(threads + 1), planes_beside(threads), columns(threads + 2) {}
  std::int64_t slabs;
  std::int64_t planes_beside;
  std::int64_t columns;
};

/// The memory that a tiling takes in the pass over slabs and in the one over columns, and in the one that takes more.
std::int64_t slab_pass_bytes(const FileCuts& cuts, int threads) noexcept;
std::int64_t column_pass_bytes(const FileCuts& cuts, int threads) noexcept;
std::int64_t cuts_bytes(const FileCuts& cuts, int threads) noexcept;

/// The tiling of the shortest expected time that fits into `memory_bytes`. Throws Error where none does, with the least
/// that would; `reserved_bytes` are what the process takes besides, for that message.
FileTiling choose_file_tiling(const FileShape& shape, int threads, std::int64_t memory_bytes,
                              std::int64_t reserved_bytes);

/// For the journal.
std::string describe(const FileTiling& tiling);
/// What `describe` has written; one of no planes where it is something else.
FileTiling parse_file_tiling(const std::string& text);

}  // namespace penstock::fft

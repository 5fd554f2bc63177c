// How a field in a file is cut into slabs, columns and bricks, and where these lie.
#pragma once

#include <cstdint>
#include <string>

#include "penstock/fft/line_transform.hpp"
#include "penstock/fft/out_of_core.hpp"

namespace penstock::fft {

/// A tiling of a field, with what follows from it.
class FileCuts {
 public:
  FileCuts() = default;
  FileCuts(const Extents& size, npy::DataType type, const FileTiling& tiling) noexcept;

  std::int64_t plane_points() const noexcept { return plane_points_; }
  std::int64_t planes() const noexcept { return planes_; }
  std::int64_t element_bytes() const noexcept { return element_bytes_; }
  std::int64_t field_bytes() const noexcept { return plane_points_ * planes_ * element_bytes_; }
  const FileTiling& tiling() const noexcept { return tiling_; }
  std::int64_t slabs() const noexcept { return slabs_; }
  std::int64_t columns() const noexcept { return columns_; }
  /// Of one slab; the last may have less.
  std::int64_t planes_of(std::int64_t slab) const noexcept;
  /// Of one column; the last may have less.
  std::int64_t points_of(std::int64_t column) const noexcept;
  /// What of a brick is points, from its beginning on.
  std::int64_t dense_bytes(std::int64_t slab, std::int64_t column) const noexcept {
    return planes_of(slab) * points_of(column) * element_bytes_;
  }
  /// What a brick takes, in memory and in the scratch file: whole pages.
  std::int64_t brick_bytes() const noexcept { return brick_bytes_; }
  /// Where it lies in the scratch file, where all bricks of a column follow one another.
  std::int64_t brick_offset(std::int64_t slab, std::int64_t column) const noexcept {
    return (column * slabs_ + slab) * brick_bytes_;
  }
  /// The number of a brick in the journal, where all of a slab follow one another.
  std::int64_t brick_number(std::int64_t slab, std::int64_t column) const noexcept { return slab * columns_ + column; }

  /// A slab as it arrives, with what lies beside it on its first and last page; a slab in bricks; a column in bricks.
  std::int64_t slab_bytes() const noexcept {
    return tiling_.planes * plane_points_ * element_bytes_ + 2 * File::scratch_alignment;
  }
  std::int64_t slab_bricks_bytes() const noexcept { return columns_ * brick_bytes_; }
  std::int64_t column_bytes() const noexcept { return slabs_ * brick_bytes_; }
  std::int64_t scratch_bytes() const noexcept { return columns_ * column_bytes(); }

 private:
  std::int64_t plane_points_ = 0;
  std::int64_t planes_ = 0;
  std::int64_t element_bytes_ = 0;
  FileTiling tiling_;
  std::int64_t slabs_ = 0;
  std::int64_t columns_ = 0;
  std::int64_t brick_bytes_ = 0;
};

/// Slabs that are in memory at once, as they arrive and in bricks, and columns: for each thread one that it works on,
/// and one that arrives or leaves meanwhile.
struct SlotCounts {
  explicit SlotCounts(int threads) noexcept : slabs(threads + 1), brick_slabs(threads + 1), columns(threads + 2) {}
  std::int64_t slabs;
  std::int64_t brick_slabs;
  std::int64_t columns;
};

/// The memory that a tiling takes in the pass over slabs and in the one over columns, and in the one that takes more.
std::int64_t slab_pass_bytes(const FileCuts& cuts, int threads) noexcept;
std::int64_t column_pass_bytes(const FileCuts& cuts, int threads) noexcept;
std::int64_t cuts_bytes(const FileCuts& cuts, int threads) noexcept;

/// The tiling of the shortest expected time that fits into `memory_bytes`. Throws Error where none does, with the least
/// that would; `reserved_bytes` are what the process takes besides, for that message.
FileTiling choose_file_tiling(const Extents& size, npy::DataType type, int threads, std::int64_t memory_bytes,
                              std::int64_t reserved_bytes);

/// For the journal.
std::string describe(const FileTiling& tiling);
/// What `describe` has written; one of no planes where it is something else.
FileTiling parse_file_tiling(const std::string& text);

}  // namespace penstock::fft

// The two passes of a transform over a field in files, each a program of parcels.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <vector>

#include "penstock/base/memory.hpp"
#include "penstock/fft/file_tiling.hpp"
#include "penstock/fft/line_transform.hpp"
#include "penstock/journal/journal.hpp"
#include "penstock/percolate/percolate.hpp"

namespace penstock::fft {

/// What the passes read and write; all of it the caller's, and there until they have run.
struct PassFiles {
  const File* input = nullptr;
  const File* input_direct = nullptr;  ///< the same, past the page cache
  std::int64_t input_offset = 0;       ///< of element 0
  std::int64_t input_bytes = 0;        ///< of the file
  const File* output = nullptr;
  std::int64_t output_offset = 0;
  const File* scratch = nullptr;
};

/// The transforms along each direction, in the places where the passes have their points.
class FieldTransforms {
 public:
  FieldTransforms(const Extents& size, npy::DataType type, const FileCuts& cuts, bool is_backward, int threads);

  /// Along x and y, of one plane.
  void run_plane(std::byte* plane) const;
  /// Along z, of a column in bricks; the result is multiplied by `factor`.
  void run_column(std::byte* bricks, std::int64_t column, double factor) const;
  /// What it takes of memory, for so many threads.
  std::int64_t bytes() const noexcept;

 private:
  class Loan;
  LineTransform x_;
  LineTransform y_;
  LineTransform z_;
  LineTransform z_last_;  // of the last column, which may be narrower
  std::int64_t last_column_;
  // A tile for each thread, whichever it is: parcels run on any.
  mutable std::mutex mutex_;
  mutable std::vector<Memory> tiles_;
  std::int64_t tile_bytes_ = 0;
};

/// What the journal calls the pieces: bricks by FileCuts::brick_number.
inline constexpr const char* brick_piece = "brick";
inline constexpr const char* column_piece = "column";

/// What both passes have.
struct PassSetting {
  PassFiles files;
  FileCuts cuts;
  const FieldTransforms* transforms = nullptr;
  double factor = 1;
  int threads = 1;
  journal::Journal* journal = nullptr;
  std::atomic<std::int64_t>* done_bytes = nullptr;  ///< arrived and left, added to as it happens
};

/// Parcels that are made before they are drawn, and slots that take turns.
class PassProgram {
 public:
  explicit PassProgram(PassSetting setting, std::vector<std::int64_t> pieces)
      : setting_(std::move(setting)), pieces_(std::move(pieces)) {}
  virtual ~PassProgram() = default;
  PassProgram(const PassProgram&) = delete;
  PassProgram& operator=(const PassProgram&) = delete;

  /// The next parcel, as percolate::Program wants it.
  std::optional<percolate::Parcel> next();

 protected:
  /// Adds the parcels of slab or column `piece`, the number `turn` of this pass.
  virtual void push(std::int64_t piece, std::size_t turn) = 0;
  const FileCuts& cuts() const noexcept { return setting_.cuts; }

  PassSetting setting_;
  std::deque<percolate::Parcel> pending_;

 private:
  std::vector<std::int64_t> pieces_;
  std::size_t drawn_ = 0;
};

/// Slabs arrive from the input, are transformed along x and y, plane after plane, and leave in bricks for the scratch
/// file. The journal learns of the bricks of each slab when all of them are written.
class SlabPass final : public PassProgram {
 public:
  /// Takes its slots from the level "memory".
  SlabPass(const PassSetting& setting, std::vector<std::int64_t> slabs, percolate::Slots& slots);

 private:
  void push(std::int64_t slab, std::size_t turn) override;
  /// Where a slab begins among the elements, in bytes.
  std::int64_t begin_of(std::int64_t slab) const noexcept {
    return slab * cuts().tiling().planes * cuts().plane_points() * cuts().element_bytes();
  }
  percolate::Transfer from_input(std::int64_t slab, std::byte* pages) const;
  void transform(std::int64_t slab, std::byte* planes, std::byte* bricks, std::vector<std::uint64_t>& sums) const;
  percolate::Slots& slots_;
  std::vector<percolate::Slot> arriving_;
  std::vector<percolate::Slot> leaving_;
  percolate::Slot told_;                          // the journal, one parcel at a time
  std::vector<std::vector<std::uint64_t>> sums_;  // of the bricks in each of `leaving_`
};

/// Columns arrive from the scratch file, are transformed along z, and leave for the output, as the journal learns.
class ColumnPass final : public PassProgram {
 public:
  ColumnPass(const PassSetting& setting, std::vector<std::int64_t> columns, percolate::Slots& slots);

  /// Slabs with bricks that were not what the journal says, and columns that for this are not made; of a run that has
  /// ended.
  std::vector<std::int64_t> torn_slabs() const;
  const std::vector<std::int64_t>& torn_columns() const noexcept { return torn_columns_; }
  std::int64_t torn_bricks() const noexcept { return torn_bricks_; }

 private:
  void push(std::int64_t column, std::size_t turn) override;
  bool is_whole(std::int64_t column, const std::byte* bricks);
  percolate::Slots& slots_;
  std::vector<percolate::Slot> columns_;
  percolate::Slot told_;
  struct Made {
    bool is_whole = false;
    std::uint64_t sum = 0;
  };
  std::vector<Made> made_;  // in each of `columns_`
  const journal::Journal::Pieces& bricks_;
  std::mutex mutex_;
  std::vector<bool> is_torn_;  // slabs
  std::vector<std::int64_t> torn_columns_;
  std::int64_t torn_bricks_ = 0;
};

/// Columns of the output are read again, and compared with what the journal says.
class ColumnCheck final : public PassProgram {
 public:
  ColumnCheck(const PassSetting& setting, std::vector<std::int64_t> columns, percolate::Slots& slots);
  /// Those that are not what was written; of a run that has ended.
  const std::vector<std::int64_t>& torn_columns() const noexcept { return torn_columns_; }

 private:
  void push(std::int64_t column, std::size_t turn) override;
  percolate::Slots& slots_;
  std::vector<percolate::Slot> columns_;
  std::mutex mutex_;
  std::vector<std::int64_t> torn_columns_;
};

}  // namespace penstock::fft

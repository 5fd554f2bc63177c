// The program of a product in files: the parcels that make C tile by tile.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "penstock/gemm/file_matrix.hpp"
#include "penstock/journal/journal.hpp"
#include "penstock/model/model.hpp"
#include "penstock/percolate/percolate.hpp"

namespace penstock::gemm {

using model::Product;
using model::Tiling;

/// What a program reads and writes; all of it the caller's, and there until the program has run.
struct TileFiles {
  const FileMatrix* a = nullptr;
  const FileMatrix* b = nullptr;
  const FileMatrix* c = nullptr;         ///< that is written
  const FileMatrix* c_before = nullptr;  ///< that beta multiplies; none for a beta of 0
  /// Where blocks of A and panels of B are kept in the order in which they are used, so that they are read from the
  /// matrices' files only once; none where they are always read from these.
  const File* scratch_a = nullptr;
  const File* scratch_b = nullptr;
  std::int64_t layers_ahead = 0;  ///< that the system is asked for in one go; 0: it is not asked
};

/// Blocks arrive from the matrices' files in runs as short as they come, and for the tiles to come go to the scratch
/// files in one piece: the transformation of the data is a part of their first read. The system is asked beforehand to
/// bring what several layers will read, in runs so much longer.
class TileProgram {
 public:
  /// What the journal calls a tile; tiles are numbered row by row.
  static constexpr const char* piece = "tile";

  /// Takes its slots from the level "memory" of `slots`. Tiles that `journal` has are not made; it learns of the
  /// others.
  TileProgram(const TileFiles& files, const Tiling& tiling, const Scalars& scalars, int threads,
              percolate::Slots& slots, journal::Journal& journal);

  /// The next parcel, as percolate::Program wants it.
  std::optional<percolate::Parcel> next();

  /// What has been multiplied until now; any thread may ask.
  double done_flops() const noexcept { return done_flops_.load(std::memory_order_relaxed); }
  /// What there is to multiply.
  double total_flops() const noexcept { return total_flops_; }

  /// The checksum of a tile as it lies in the file of C, for the comparison with the journal's. Uses the slots: before
  /// or after the program runs, not meanwhile.
  std::uint64_t checksum_in_file(std::int64_t tile, const percolate::Slots& slots) const;

  /// The bytes that scratch files want.
  static std::int64_t scratch_a_bytes(const Product& product, const Tiling& tiling);
  static std::int64_t scratch_b_bytes(const Product& product, const Tiling& tiling);

 private:
  /// Where the program is: the parcels of a tile are those of its strips for each depth, then one that tells of it.
  struct Position {
    std::int64_t row = 0;  // of tiles
    std::int64_t column = 0;
    std::int64_t layer = 0;  // depths that were multiplied before
    std::int64_t strip = 0;
  };
  /// Turns that slots take.
  struct Turns {
    std::vector<percolate::Slot> slots;
    std::size_t next = 0;
    percolate::Slot take() { return slots[next++ % slots.size()]; }
  };

  Submatrix strip_box(std::int64_t row, std::int64_t column, std::int64_t strip) const;
  std::int64_t strips_of(std::int64_t row) const;
  std::int64_t layers() const;
  percolate::Arrival arrival(const FileMatrix& matrix, const Submatrix& box, percolate::Slot slot, const File* scratch,
                             std::int64_t index, bool is_kept) const;
  std::optional<percolate::Parcel> keep(const char* name, const File* scratch, std::int64_t index, percolate::Slot slot,
                                        bool is_kept) const;
  void push_strip();
  void push_ahead();
  void prefetch(const Position& tile, std::int64_t first_layer, std::int64_t part, std::int64_t parts);
  void end_tile();
  void skip_done_tiles(Position& tile) const;
  void to_next_tile(Position& tile) const;
  void multiply_strip(const Position& place, const Submatrix& a_box, percolate::Slot a, const Submatrix& b_box,
                      percolate::Slot b);

  const TileFiles files_;
  const Tiling tiling_;
  const Scalars scalars_;
  const Product product_;
  percolate::Slots& slots_;
  journal::Journal& journal_;
  const journal::Journal::Pieces done_;  // tiles not to be made
  std::int64_t tile_rows_;
  std::int64_t tile_columns_;

  std::vector<percolate::Slot> c_slots_;  // a strip each
  Turns a_turns_;
  Turns b_turns_;
  percolate::Slot b_slot_;       // of the panel in use
  percolate::Slot finished_;     // used by strips that leave, changed by the parcel that tells of the tile
  percolate::Slot kept_;         // used by what goes to the scratch files, changed at the end of a tile
  std::vector<bool> a_is_kept_;  // by row of tiles
  std::vector<bool> b_is_kept_;  // by column
  Position place_;
  bool has_begun_ = false;
  std::vector<std::uint64_t> sums_;        // of the strips of the tile
  std::deque<percolate::Parcel> pending_;  // made and not yet handed out
  bool is_ended_ = false;
  double total_flops_ = 0;
  std::atomic<double> done_flops_ = 0;
};

}  // namespace penstock::gemm

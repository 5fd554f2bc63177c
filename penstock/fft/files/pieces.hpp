// Slabs and columns of a field in files: where each lies in the field's file, in memory and in the scratch file, and
// how it is transformed.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string_view>
#include <vector>

#include "penstock/base/memory.hpp"
#include "penstock/fft/files/line_transform.hpp"
#include "penstock/fft/files/rank_journals.hpp"
#include "penstock/fft/files/tiling.hpp"
#include "penstock/percolate/percolate.hpp"

namespace penstock::fft {

/// Equal parts of memory, each lent to one thread for one call. Thread-safe.
class Lender {
 public:
  class Loan {
   public:
    explicit Loan(Lender& lender);
    ~Loan();
    Loan(const Loan&) = delete;
    Loan& operator=(const Loan&) = delete;
    std::span<std::byte> bytes() const noexcept { return bytes_; }

   private:
    Lender& lender_;
    std::span<std::byte> bytes_;
  };

  /// One more part, which must outlive this. There are as many as threads that borrow at once.
  void add(std::span<std::byte> part) { parts_.push_back(part); }

 private:
  std::mutex mutex_;
  std::vector<std::span<std::byte>> parts_;
};

/// The transforms along each direction, in the places where the passes have their points.
class FieldTransforms {
 public:
  FieldTransforms(const FileCuts& cuts, bool is_backward, int threads);

  /// Of one plane: along x, from `space` to `spectrum`, which may be the same memory where the field is complex, and
  /// along y.
  void to_spectrum(const std::byte* space, std::byte* spectrum) const;
  /// Along y, in place, and along x, from `spectrum` to `space`; the result is multiplied by `factor`.
  void to_space(std::byte* spectrum, std::byte* space, double factor) const;
  /// Along z, of a column in bricks; the result is multiplied by `factor`.
  void run_column(std::byte* bricks, std::int64_t column, double factor) const;

 private:
  LineTransform x_;
  LineTransform y_;
  LineTransform z_;
  LineTransform z_last_;  // of the last column, which may be narrower
  std::int64_t last_column_;
  std::vector<Memory> tiles_;
  mutable Lender lender_;
};

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

/// What both passes have.
struct PassSetting {
  PassFiles files;
  FileCuts cuts;
  bool begins_with_columns = false;  ///< the first pass takes columns and the second slabs; else the other way round
  const FieldTransforms* transforms = nullptr;
  double factor = 1;  ///< on the output
  int threads = 1;
  RankJournals* journals = nullptr;
  std::atomic<std::int64_t>* done_bytes = nullptr;  ///< arrived and left, added to as it happens
};

/// The number of the brick that a piece of the first pass has in common with one of the second: all of a piece of the
/// first pass follow one another.
constexpr std::int64_t brick_number(std::int64_t first, std::int64_t second, std::int64_t seconds) noexcept {
  return first * seconds + second;
}

/// The pieces that one pass takes the field in, and places in memory where they take turns. A place has a slot for the
/// piece as the field's file has it and one for its bricks, or one slot for both, one after the other. Each piece
/// crosses all pieces of the other pass: a brick is what two of them have in common.
class Pieces {
 public:
  using Transfer = percolate::Transfer;

  virtual ~Pieces() = default;
  Pieces(const Pieces&) = delete;
  Pieces& operator=(const Pieces&) = delete;

  /// "slab" or "column".
  virtual std::string_view name() const noexcept = 0;
  std::int64_t count() const noexcept { return count_; }
  /// Pieces of the other pass.
  std::int64_t others() const noexcept { return others_; }
  std::size_t places() const noexcept { return bricks_slots_.size(); }
  percolate::Slot field_slot(std::size_t place) const noexcept { return field_slots_[place]; }
  percolate::Slot bricks_slot(std::size_t place) const noexcept { return bricks_slots_[place]; }

  /// Between the field's file (the input for the first pass, the output for the second) and a place.
  virtual std::vector<Transfer> field_transfers(Transfer::Kind kind, std::int64_t piece, std::size_t place) const = 0;
  /// Between the scratch file, where all bricks of a piece of the second pass follow one another, and a place.
  Transfer scratch_transfer(Transfer::Kind kind, std::int64_t piece, std::size_t place) const;
  /// Transforms what has arrived of the field, and leaves it in bricks; the other way, with the factor.
  virtual void to_bricks(std::int64_t piece, std::size_t place) = 0;
  virtual void from_bricks(std::int64_t piece, std::size_t place) = 0;

  /// Bytes of a piece in the field's file, and in bricks, without their padding.
  virtual std::int64_t field_bytes(std::int64_t piece) const noexcept = 0;
  virtual std::int64_t bricks_bytes(std::int64_t piece) const noexcept = 0;
  /// Checksums of a place: of each brick, and of the piece as the field's file has it.
  std::vector<std::uint64_t> brick_sums(std::int64_t piece, std::size_t place) const;
  virtual std::uint64_t field_sum(std::int64_t piece, std::size_t place) const = 0;
  /// The number of the brick that a piece has in common with one of the other pass.
  std::int64_t brick_number(std::int64_t piece, std::int64_t other) const noexcept {
    return is_first_ ? fft::brick_number(piece, other, others_) : fft::brick_number(other, piece, count_);
  }

 protected:
  /// Without places.
  Pieces(const PassSetting& setting, percolate::Slots& slots, bool is_first, std::int64_t count, std::int64_t others);
  /// Takes `places` from the level "memory"; `field_bytes` 0: the two slots of a place are one.
  void take_places(std::int64_t places, std::int64_t field_bytes, std::int64_t bricks_bytes);
  /// Without its padding.
  virtual std::int64_t brick_bytes(std::int64_t piece, std::int64_t other) const noexcept = 0;
  std::byte* field_memory(std::size_t place) const { return slots_.bytes(field_slots_[place]).data(); }
  std::byte* bricks_memory(std::size_t place) const { return slots_.bytes(bricks_slots_[place]).data(); }
  const FileCuts& cuts() const noexcept { return setting_.cuts; }
  bool is_first() const noexcept { return is_first_; }

  PassSetting setting_;
  percolate::Slots& slots_;

 private:
  bool is_first_;
  std::int64_t count_;
  std::int64_t others_;
  std::vector<percolate::Slot> field_slots_;
  std::vector<percolate::Slot> bricks_slots_;
};

/// The pieces of the first pass, or of the second.
std::unique_ptr<Pieces> make_pieces(const PassSetting& setting, percolate::Slots& slots, bool is_first);

}  // namespace penstock::fft

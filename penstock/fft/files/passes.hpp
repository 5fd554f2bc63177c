// The two passes of a transform over a field in files, each a program of parcels.
#pragma once

#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "penstock/fft/files/pieces.hpp"
#include "penstock/percolate/percolate.hpp"

namespace penstock::fft {

/// What the journal calls bricks, by Pieces::brick_number. Pieces of the second pass it calls by their name.
inline constexpr const char* brick_piece = "brick";

/// Parcels that are made before they are drawn, some for each of the pieces that are wanted.
class PassProgram {
 public:
  PassProgram(const PassSetting& setting, Pieces& pieces, std::vector<std::int64_t> wanted)
      : setting_(setting), pieces_(pieces), wanted_(std::move(wanted)) {}
  virtual ~PassProgram() = default;
  PassProgram(const PassProgram&) = delete;
  PassProgram& operator=(const PassProgram&) = delete;

  /// The next parcel, as percolate::Program wants it.
  std::optional<percolate::Parcel> next();

 protected:
  /// Adds the parcels of a piece, in a place.
  virtual void push(std::int64_t piece, std::size_t place) = 0;
  /// A parcel's label.
  std::string label(std::int64_t piece, std::string_view what) const;
  std::vector<percolate::Arrival> field_arrivals(std::int64_t piece, std::size_t place) const;

  PassSetting setting_;
  Pieces& pieces_;
  std::deque<percolate::Parcel> pending_;

 private:
  std::vector<std::int64_t> wanted_;
  std::size_t drawn_ = 0;
};

/// Pieces arrive from the input, are transformed, and leave in bricks for the scratch file. The journal learns of the
/// bricks of each when all of them are written.
class FirstPass final : public PassProgram {
 public:
  FirstPass(const PassSetting& setting, Pieces& pieces, std::vector<std::int64_t> wanted, percolate::Slots& slots);

 private:
  void push(std::int64_t piece, std::size_t place) override;
  percolate::Slot told_;                          // the journal, one parcel at a time
  std::vector<std::vector<std::uint64_t>> sums_;  // of the bricks in each place
};

/// Pieces arrive in bricks from the scratch file, are transformed, and leave for the output, as the journal learns.
class SecondPass final : public PassProgram {
 public:
  SecondPass(const PassSetting& setting, Pieces& pieces, std::vector<std::int64_t> wanted, percolate::Slots& slots);

  /// Pieces of the first pass with bricks that were not what the journal says, and those of this one that for this are
  /// not made; of a run that has ended.
  std::vector<std::int64_t> torn_others() const;
  const std::vector<std::int64_t>& torn() const noexcept { return torn_; }
  std::int64_t torn_bricks() const noexcept { return torn_bricks_; }

 private:
  void push(std::int64_t piece, std::size_t place) override;
  bool is_whole(std::int64_t piece, std::size_t place);
  percolate::Slot told_;
  struct Made {
    bool is_whole = false;
    std::uint64_t sum = 0;
  };
  std::vector<Made> made_;  // in each place
  const RankJournals::Pieces& bricks_;
  std::mutex mutex_;
  std::vector<bool> is_torn_;  // of the first pass's
  std::vector<std::int64_t> torn_;
  std::int64_t torn_bricks_ = 0;
};

/// Pieces of the output are read again, and compared with what the journal says.
class OutputCheck final : public PassProgram {
 public:
  using PassProgram::PassProgram;
  /// Those that are not what was written; of a run that has ended.
  const std::vector<std::int64_t>& torn() const noexcept { return torn_; }

 private:
  void push(std::int64_t piece, std::size_t place) override;
  std::mutex mutex_;
  std::vector<std::int64_t> torn_;
};

}  // namespace penstock::fft

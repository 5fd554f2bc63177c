// The Fourier modes that a rank holds, row by row along z, and which of them the 2/3 rule keeps.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <penstock/fft/fft.hpp>
#include <vector>

namespace navier_stokes {

/// Products of two fields have wavenumbers of up to twice theirs, of which those beyond n/2 are mistaken for lower
/// ones. Where only |k| < n/3 is kept, in each direction, none of these falls among what is kept.
class Modes {
 public:
  /// The modes of a real field of n^3 points that lie in `part`, which holds rows whole.
  Modes(std::int64_t n, const penstock::fft::Distribution& part);

  /// A row of n modes along z that lie one after the other.
  struct Row {
    std::size_t begin;    ///< in this rank's array
    double kx, ky;        ///< its wavenumbers
    double weight;        ///< how many modes of the whole spectrum each of it stands for: 2, or 1 where kx = 0
    std::int64_t number;  ///< among the rows kept of all ranks: the same on any number of ranks
  };
  /// This rank's rows that are kept, and where the others begin.
  const std::vector<Row>& kept_rows() const { return kept_rows_; }
  const std::vector<std::size_t>& other_rows() const { return other_rows_; }
  /// The number of rows kept on all ranks together.
  std::int64_t all_kept_rows() const { return (most_ + 1) * (2 * most_ + 1); }

  /// Where in a row the modes lie that are kept: kz = 0 to `most()`, and -`most()` to -1.
  struct Range {
    std::size_t begin, end;
  };
  const std::array<Range, 2>& kept_z() const { return kept_z_; }
  std::int64_t most() const { return most_; }
  /// kz by the place in a row.
  const std::vector<double>& kz() const { return kz_; }

 private:
  std::int64_t most_;
  std::array<Range, 2> kept_z_;
  std::vector<double> kz_;
  std::vector<Row> kept_rows_;
  std::vector<std::size_t> other_rows_;
};

}  // namespace navier_stokes

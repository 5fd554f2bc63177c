// The Fourier modes that a rank holds, row by row along z.
#pragma once

#include <cstddef>
#include <cstdint>
#include <penstock/fft/fft.hpp>
#include <vector>

namespace navier_stokes {

/// Products of two fields have wavenumbers of up to twice theirs, of which those beyond n/2 are mistaken for lower
/// ones. Where only |k| < n/3 is kept, in each direction, none of these falls among what is kept: n is at least 3/2 of
/// the modes in a direction. No others are stored, transformed or exchanged.
class Modes {
 public:
  /// The highest wavenumber that is kept of n points, and how many modes a direction then has.
  static std::int64_t most_of(std::int64_t n) { return (n - 1) / 3; }
  static std::int64_t count_of(std::int64_t n) { return 2 * most_of(n) + 1; }

  /// The modes of a real field of n^3 points that lie in `part`, which holds rows whole.
  Modes(std::int64_t n, const penstock::fft::Distribution& part);

  /// A row of modes along z that lie one after the other.
  struct Row {
    std::size_t begin;    ///< in this rank's array
    double kx, ky;        ///< its wavenumbers
    double weight;        ///< how many modes of the whole spectrum each of it stands for: 2, or 1 where kx = 0
    std::int64_t number;  ///< among the rows of all ranks: the same on any number of ranks
  };
  /// This rank's rows.
  const std::vector<Row>& rows() const { return rows_; }
  /// The number of rows on all ranks together.
  std::int64_t all_rows() const { return (most_ + 1) * count(); }
  /// The modes of a row.
  std::int64_t count() const { return 2 * most_ + 1; }
  /// kz by the place in a row.
  const std::vector<double>& kz() const { return kz_; }

 private:
  std::int64_t most_;
  std::vector<double> kz_;
  std::vector<Row> rows_;
};

}  // namespace navier_stokes

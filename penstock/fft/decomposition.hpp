// The decomposition of a field into pencils on a TY x TZ grid of ranks: the box of each rank before and after a stage.
#pragma once

#include <cstdint>
#include <vector>

#include "penstock/fft/fft.hpp"

namespace penstock::fft {

/// The box of each rank.
using Boxes = std::vector<Box>;

/// The pencils of NAS FT's terminology (Nishtala et al. 2009, slide 12): rank r sits in row r % ty of plane group r /
/// ty.
class Decomposition {
 public:
  /// `points` are those of the array that is distributed: nx/2 + 1 in x for the spectrum of real data.
  Decomposition(Extents points, Grid grid) noexcept : points_(points), grid_(grid) {}

  /// The box of `rank` when its pencils run along direction `along`: whole in it, cut in the other two.
  Box pencil(int along, int rank) const noexcept;

  /// The same of every rank.
  Boxes pencils(int along) const;

  const Extents& points() const noexcept { return points_; }
  const Grid& grid() const noexcept { return grid_; }

 private:
  Extents points_;
  Grid grid_;
};

/// The grid for `ranks` ranks where the user leaves the choice and the directions `along` are transformed: slabs
/// (1 x P) while every rank gets planes of each stage, since that saves an exchange; else the grid nearest to a square
/// that leaves the fewest ranks idle.
Grid choose_grid(const Extents& points, int ranks, const std::array<bool, 3>& along = {true, true, true}) noexcept;

}  // namespace penstock::fft

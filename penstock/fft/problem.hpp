// A transform's options, settled and checked: what is left open by the user is decided, on every rank alike.
#pragma once

#include <cstdint>

#include "penstock/fft/decomposition.hpp"
#include "penstock/fft/fft.hpp"
#include "penstock/gas/gas.hpp"
#include "penstock/mover/mover.hpp"

namespace penstock::fft {

/// What a schedule is made from, settled and checked.
struct Problem {
  Options options;
  Grid grid;
  std::int64_t grain = 0;  ///< planes per message; 0: all
  gas::Carrier carrier = gas::Carrier::fastest;
  bool is_plane_in_cache = false;
  std::int64_t real_bytes = 0;  ///< 4 or 8
  mover::Hint hint = mover::Hint::reuse;

  std::int64_t complex_bytes() const noexcept { return 2 * real_bytes; }
  /// Points of the spectrum: nx/2 + 1 in x for real data.
  Extents spectrum_points() const noexcept;
};

/// Settles `options` for the ranks of `team`; collective. Throws Error on every rank where they cannot be used, differ
/// between ranks, or ask for a field that the memory cannot hold.
template <class Real>
Problem settle(const gas::Team& team, const Options& options);

/// Collective: throws Error on every rank where the ranks of some node need more than it has, or than the budget.
void check_memory(const gas::Team& team, const Options& options, const MemoryNeed& need);

// The user's arrays: x-pencils with x contiguous, z-pencils with z contiguous.
inline constexpr std::array<int, 3> x_pencil_order{2, 1, 0};
inline constexpr std::array<int, 3> z_pencil_order{0, 1, 2};

/// The distributions of the user's arrays on `rank`, and the bytes from one field of a batch to the next in both.
Distribution input_of(const Problem& problem, int rank);
Distribution output_of(const Problem& problem, int rank);
std::int64_t field_bytes_of(const Problem& problem, int rank);

}  // namespace penstock::fft

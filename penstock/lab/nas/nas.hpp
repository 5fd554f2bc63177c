// The NAS FT benchmark (NAS Parallel Benchmarks 3.4.1): a heat equation solved in the spectrum, with published
// checksums.
#pragma once

#include <complex>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "penstock/fft/fft.hpp"
#include "penstock/gas/gas.hpp"

namespace penstock::lab::nas {

/// One class of the benchmark. The run is verified against `checksums`; tests change them.
struct Problem {
  char name = 0;
  fft::Extents size{};
  std::vector<std::complex<double>> checksums;  ///< the published ones, one per step

  int steps() const noexcept { return static_cast<int>(checksums.size()); }
};

/// The classes S, W, A, B, C, D, E and F. Throws Error for any other letter.
Problem problem_of_class(char name);

/// The operations of a run in millions, as the benchmark counts them: N (14.8157 + 7.19641 ln N + (5.23518 +
/// 7.21113 ln N) steps) 1e-6 with N points.
double million_operations(const Problem& problem);

/// Fills `numbers` with the members first, first + 1, ... of the benchmark's sequence of random numbers in (0, 1):
/// member k is 5^(13 (k + 1)) 314159265 mod 2^46, divided by 2^46. Starting anywhere takes O(log first).
void fill_random(std::uint64_t first, std::span<double> numbers) noexcept;

/// The seconds of the timed region by what they were spent on, mean over the ranks.
struct Breakdown {
  double plan_s = 0;      ///< making the plan, which programs do once for many transforms
  double setup_s = 0;     ///< the rest of the set-up: the factors and the initial field
  double fft_s = 0;       ///< one transform forward, and one backward per step
  double evolve_s = 0;    ///< multiplying the spectrum with the factors of each step
  double checksum_s = 0;  ///< the sums of 1024 points, and waiting for the slowest rank
};

/// The result of a run; the same on every rank.
struct Result {
  std::vector<std::complex<double>> checksums;  ///< one per step
  std::vector<double> errors;                   ///< |checksum - published| / |published|
  double largest_error = 0;                     ///< the largest of `errors`; NaN where one of them is NaN
  bool is_verified = false;                     ///< `largest_error` is at most `tolerance`
  double time_s = 0;                            ///< of the timed region, on the slowest rank
  double rate_mops = 0;                         ///< million_operations / time_s
  Breakdown breakdown;
  fft::Decision decision;
  std::uint64_t memory_bytes = 0;  ///< of the rank that takes the most
};

/// The largest error of a checksum that the benchmark accepts.
inline constexpr double tolerance = 1e-12;

/// Collective: runs the benchmark on the ranks of `team`. The benchmark sets size, type, output and batch of `options`;
/// the rest (threads, tuning of exchanges, effort, budget) is the caller's.
///
/// A warm-up, of the set-up and one forward transform, precedes the timed region, as the benchmark prescribes. The
/// timed region makes the plan anew, fills the field and transforms forward; then each step evolves the spectrum,
/// transforms backward and sums.
///
/// `on_step` is called on every rank after each step, with its number (from 1 on) and its checksum. It runs inside the
/// timed region, where the benchmark prints.
///
/// Throws Error on every rank where the options cannot be used or the arrays do not fit the memory. A wrong checksum is
/// no Error: see `is_verified`.
Result run(const gas::Team& team, const Problem& problem, const fft::Options& options,
           const std::function<void(int step, std::complex<double> checksum)>& on_step = {});

}  // namespace penstock::lab::nas

// How a program's speed grows with its workers: the laws of Amdahl and Gustafson, and their refinement by communication
// (the lecture of seed 1, slides 145 to 163).
#pragma once

#include <cstddef>
#include <optional>
#include <span>

namespace penstock::model {

/// What counts as work: all of it, or the part that can run in parallel (slides 147, 148, 151).
enum class Work { all, parallel };

/// The time c(N) that communication adds, in units of the serial time of the problem of one worker (slides 158 to 162).
enum class Communication {
  none,
  blocking,  ///< one message at a time: (kappa + lambda) N
  constant,  ///< kappa + lambda
  /// Messages as large as the surface of a worker's part: kappa N^((alpha - 1) beta) + lambda. That is kappa N^-beta
  /// for a fixed problem, and kappa + lambda for alpha = 1, where a worker's part keeps its size; the lecture prints
  /// kappa N^-beta for both and uses these.
  surface,
};

/// A program with a serial part s, whose parallel part p = 1 - s grows like N^alpha with the workers N.
struct Scaling {
  double serial = 0;  ///< s, from 0 to 1
  double alpha = 0;   ///< 0: a fixed problem (strong scaling), 1: a problem that grows with the workers (weak scaling)
  Communication communication = Communication::none;
  double kappa = 0;       ///< time in which a message streams
  double lambda = 0;      ///< latency
  double beta = 2.0 / 3;  ///< of surface to volume: 2/3 in three dimensions
};

/// T = s + p N^(alpha - 1) + c(N) with N workers (slides 145, 146, 158), 1 being the time of one without communication.
double scaled_time(const Scaling& scaling, double workers) noexcept;

/// The work per time with N workers over that of one: (s + p N^alpha) / T, or N^alpha / T where the parallel part alone
/// is work (slides 147 to 151, 158). Amdahl's law for alpha = 0, Gustafson's for alpha = 1.
double speedup(const Scaling& scaling, double workers, Work work = Work::all) noexcept;

/// speedup / N (slides 152 to 154).
double efficiency(const Scaling& scaling, double workers, Work work = Work::all) noexcept;

/// 1 / s - 1: with more workers, speeding up the serial part pays more than speeding up the parallel one by the same
/// factor, whatever that is (slide 156).
double crossover_workers(double serial) noexcept;

/// The workers with which a fixed problem over a blocking network is fastest: sqrt(p / (kappa + lambda)), where the
/// derivative of slide 159 is 0.
double best_blocking_workers(const Scaling& scaling) noexcept;

/// A speedup that was measured, over one worker that does not communicate.
struct MeasuredSpeedup {
  double workers;
  double speedup;
};

/// A fitted parameter and the interval that holds the true one with the confidence asked for.
struct Estimate {
  double value = 0;
  double low = 0;
  double high = 0;
};

struct ScalingFit {
  Estimate serial;
  /// Apart, where the points tell them apart.
  std::optional<Estimate> kappa, lambda;
  /// Where they enter by their sum: blocking and constant communication, and surfaces for alpha = 1.
  std::optional<Estimate> kappa_plus_lambda;
  double relative_error = 0;  ///< root of the mean square, of the speedups fitted
};

/// Fits s, kappa and lambda of a program of the `form` given (its alpha, communication and beta; its other members do
/// not matter), so that the squares of the relative errors of the speedups are least (slide 155). Throws Error for
/// fewer points than parameters and one more, for numbers of workers below 1, speedups not above 0, and for points that
/// leave a parameter open.
ScalingFit fit_scaling(std::span<const MeasuredSpeedup> points, const Scaling& form, double confidence = 0.95);

}  // namespace penstock::model

// The speedup of a program as a function of its workers: the laws of Amdahl and Gustafson, and their refinement by
// communication (the lecture of seed 1, slides 145 to 163).
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#pragma GCC visibility push(default)

namespace penstock::model {

/// Which work counts: all of it, or the part that can run in parallel (slides 147, 148, 151).
enum class Work { all, parallel };

/// The time c(N) that communication adds, in units of the serial time of the problem of one worker (slides 158 to 162).
enum class Communication {
  none,
  blocking,  ///< one message at a time: (kappa + lambda) N
  constant,  ///< kappa + lambda
  /// Messages as large as the surface of a worker's part: kappa N^((alpha - 1) beta) + lambda. The first term is
  /// kappa N^-beta for a fixed problem, and kappa for alpha = 1, where a worker's part keeps its size. The lecture
  /// prints kappa N^-beta for both, and computes with the two above.
  surface,
};

/// A program with a serial part s, whose parallel part p = 1 - s grows like N^alpha with the workers N.
struct Scaling {
  double serial = 0;  ///< s, from 0 to 1
  double alpha = 0;   ///< 0: a fixed problem (strong scaling), 1: a problem that grows with the workers (weak scaling)
  Communication communication = Communication::none;
  double kappa = 0;       ///< the time of a message's bytes
  double lambda = 0;      ///< the latency of a message
  double beta = 2.0 / 3;  ///< exponent of surface to volume: 2/3 in three dimensions
};

/// T = s + p N^(alpha - 1) + c(N) with N workers (slides 145, 146, 158), in units of the time of one without
/// communication.
double scaled_time(const Scaling& scaling, double workers) noexcept;

/// The work per time with N workers over that of one: (s + p N^alpha) / T, or N^alpha / T where the parallel part alone
/// is work (slides 147 to 151, 158). Amdahl's law for alpha = 0, Gustafson's for alpha = 1.
double speedup(const Scaling& scaling, double workers, Work work = Work::all) noexcept;

/// speedup / N (slides 152 to 154).
double efficiency(const Scaling& scaling, double workers, Work work = Work::all) noexcept;

/// 1 / s - 1, for Amdahl's law (alpha = 0, no communication): with more workers, speeding up the serial part by any
/// factor pays more than speeding up the parallel part by the same factor (slide 156).
double crossover_workers(double serial) noexcept;

/// The number of workers with which a fixed problem with blocking communication is fastest: sqrt(p / (kappa + lambda)),
/// where the derivative of slide 159 is 0.
double best_blocking_workers(const Scaling& scaling) noexcept;

/// A measured speedup, relative to one worker without communication.
struct MeasuredSpeedup {
  double workers;
  double speedup;
};

/// A fitted parameter and its confidence interval.
struct Estimate {
  double value = 0;
  double low = 0;
  double high = 0;
};

struct ScalingFit {
  Estimate serial;
  /// Of Communication::surface with another alpha than 1, where the points tell kappa and lambda apart.
  std::optional<Estimate> kappa, lambda;
  /// Where only the sum enters: blocking and constant communication, and surface for alpha = 1.
  std::optional<Estimate> kappa_plus_lambda;
  double relative_error = 0;  ///< root mean square of the differences of the speedups' logarithms
};

/// Fits s, kappa and lambda of a program with alpha, communication and beta of `form`, whose other members are ignored.
/// Minimises the sum of squared differences of the speedups' logarithms, which are close to their relative errors
/// (slide 155). Throws Error unless there are more points than parameters, for less than 1 worker, for speedups not
/// above 0, and for points that leave a parameter open.
ScalingFit fit_scaling(std::span<const MeasuredSpeedup> points, const Scaling& form, double confidence = 0.95);

}  // namespace penstock::model

#pragma GCC visibility pop

// Plans, which transform fields in the memory of ranks, and transforms under way. Included by fft.hpp.
#pragma once

#include <complex>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <type_traits>

#include "penstock/fft/decision.hpp"
#include "penstock/fft/kinds.hpp"
#include "penstock/fft/options.hpp"

#pragma GCC visibility push(default)

namespace penstock::gas {
class Team;
}

namespace penstock::fft {

/// The function that `convolve` calls for each row of this rank's spectrum: all kz from 0 to nz - 1 at one (kx, ky),
/// where z is the direction that is transformed last, and x and y are the first and the second (Options::sequence).
/// kx, ky and kz are indices from 0; `signed_wavenumber` says which wavenumber an index stands for. The function may
/// change the row. Several threads call it at the same time, with different rows. An exception ends the transform on
/// every rank.
template <class Real>
using RowFunction = std::function<void(std::int64_t kx, std::int64_t ky, std::span<std::complex<Real>> row)>;

/// The function that `collocate` calls for each row of this rank's points: all x from 0 to nx - 1 at one (y, z), where
/// x is the direction that is transformed first, forward, and y and z are the second and the third. Number is Real, or
/// std::complex<Real> for type c2c. The function may change the row. Several threads call it at the same time, with
/// different rows. An exception ends the transform on every rank.
template <class Number>
using PointFunction = std::function<void(std::int64_t y, std::int64_t z, std::span<Number> row)>;

/// The wavenumber of lowest magnitude that index k of n stands for: k, or k - n beyond n / 2.
constexpr std::int64_t signed_wavenumber(std::int64_t k, std::int64_t n) noexcept {
  return k <= n / 2 ? k : k - n;
}

/// A transform under way, begun by one of a plan's `start_` members. The plan and the arrays must outlive it. The plan
/// can begin no other transform before it is done. Movable, not copyable; the destructor waits for the transform.
class [[nodiscard]] Execution {
 public:
  struct Work;
  explicit Execution(std::unique_ptr<Work> work) noexcept;
  ~Execution();
  Execution(Execution&&) noexcept;
  Execution& operator=(Execution&&) = delete;

  /// Does what can be done without waiting for peers, on the plan's threads. Returns whether all is done. Throws as
  /// `wait`.
  bool progress();
  /// Completes the transform, waiting for peers. Throws as the plan's calls do. Ranks that have several transforms
  /// under way must wait for them in the same order, or use `wait_all`.
  void wait();

 private:
  std::unique_ptr<Work> work_;
};

/// Completes all of them, advancing each as its input arrives.
void wait_all(std::span<Execution> executions);

/// The memory that a plan with these options, tuned by the model, would take on this rank of `team`. Collective. Throws
/// Error as the plan's constructor does, but does not compare the whole need with the memory that there is.
template <class Real>
MemoryNeed memory_need(const gas::Team& team, const Options& options);

/// A transform of given size over the ranks of a team, planned once and run many times.
///
/// Real is float or double. Movable, not copyable. All members are collective over the team unless their comment says
/// "Local". A plan runs one transform at a time. Different plans may run at the same time on different threads if each
/// was made from a team of its own and MPI, where it is used, was initialised with MPI_THREAD_MULTIPLE.
///
/// Arrays: `input()` and `output()` say which points this rank holds and in which order; a rank may hold none. Input
/// and output may be the same memory: the input of a field is read whole before any of its output is written. Otherwise
/// the input is left unchanged. Arrays that overlap without beginning at the same place are refused. Where the plan has
/// arrays of its own, the result of `forward` and `backward` is one of these, and not the input.
///
/// Errors: the constructor throws penstock::Error on every rank when sizes, grid or options cannot be used, differ
/// between ranks, or need more memory than there is. Transforms do not pay for an agreement. A transform fails on a
/// rank where a span is too short, overlaps the other, is not of the plan's type or not the plan's own array, where the
/// plan does not convolve or has a transform under way, and where anything is thrown midway. The Error of that rank is
/// thrown there and on every rank that waits for it. The plan cannot be used again: its later calls throw the same at
/// once, on every rank (see gas::Team). Other plans are not affected.
template <class Real>
class Plan {
  static_assert(std::is_same_v<Real, float> || std::is_same_v<Real, double>);

 public:
  using Complex = std::complex<Real>;

  /// Collective. The team is used by the constructor only; the plan communicates over a team of its own.
  Plan(const gas::Team& team, const Options& options);
  ~Plan();
  Plan(Plan&&) noexcept;
  Plan& operator=(Plan&&) noexcept;

  /// The points of this rank in real space. Local.
  const Distribution& input() const noexcept;
  /// The wavenumbers of this rank, as indices. For r2c those of the first Fourier transform's direction run from 0
  /// to n/2. Local.
  const Distribution& output() const noexcept;

  /// With a batch, field i begins at element i * stride of the array: both strides are 1 where it is interleaved.
  /// Otherwise they are the same number of bytes, which is enough for the larger of a field's input and output, so that
  /// a batch can be transformed in place. Local.
  std::int64_t input_stride() const noexcept;
  std::int64_t output_stride() const noexcept;

  /// The plan's own arrays, with Options::has_arrays, for the fields of the batch; zero at first. They live as long as
  /// the plan. Peers write the one that is the result, from the call that makes it to its end; after a call that throws
  /// they may still do. Number is Real or Complex, as the plan's type has it there. Throws Error where it is the other
  /// one, and where the plan has none. Local.
  template <class Number>
  std::span<Number> input_array() const;
  template <class Number>
  std::span<Number> output_array() const;

  /// Transforms with exp(-i k x). For type c2c.
  void forward(std::span<const Complex> in, std::span<Complex> out, Scaling scaling = Scaling::none);
  /// As above, for type r2c.
  void forward(std::span<const Real> in, std::span<Complex> out, Scaling scaling = Scaling::none);
  /// Transforms with exp(+i k x). For type c2c.
  void backward(std::span<const Complex> in, std::span<Complex> out, Scaling scaling = Scaling::none);
  /// As above, for type r2c.
  void backward(std::span<const Complex> in, std::span<Real> out, Scaling scaling = Scaling::none);
  /// Transform by the plan's sine and cosine kinds, and back by the inverse kinds. For type r2r.
  void forward(std::span<const Real> in, std::span<Real> out, Scaling scaling = Scaling::none);
  void backward(std::span<const Real> in, std::span<Real> out, Scaling scaling = Scaling::none);

  /// Transforms forward, calls `on_spectrum` for each row of the spectrum, and transforms backward, in one call. The
  /// spectrum is never stored, which saves a pass over memory. For a plan made with Options::convolves. `in` and `out`
  /// are both in real space. With a batch, `on_spectrum` is called for one field after the other; where it is
  /// interleaved, once for all, with rows that have the coefficients of all fields beside each other for each kz.
  void convolve(std::span<const Complex> in, std::span<Complex> out, const RowFunction<Real>& on_spectrum,
                Scaling scaling = Scaling::full);
  void convolve(std::span<const Real> in, std::span<Real> out, const RowFunction<Real>& on_spectrum,
                Scaling scaling = Scaling::full);

  /// Transforms backward, calls `on_points` for each row of the points in real space, and transforms forward, in one
  /// call: what is not linear in the fields, at the points of the grid (collocation). The points are never stored,
  /// which saves a pass over memory. For a plan made with Options::collocates. `in` and `out` are both spectra. With a
  /// batch, `on_points` is called for one field after the other; where it is interleaved, once for all, with rows that
  /// have the values of all fields beside each other for each x, so that it can multiply fields: by Options::modes
  /// without aliases.
  void collocate(std::span<const Complex> in, std::span<Complex> out, const PointFunction<Complex>& on_points,
                 Scaling scaling = Scaling::full);
  /// As above, for type r2c.
  void collocate(std::span<const Complex> in, std::span<Complex> out, const PointFunction<Real>& on_points,
                 Scaling scaling = Scaling::full);
  /// As above, for type r2r.
  void collocate(std::span<const Real> in, std::span<Real> out, const PointFunction<Real>& on_points,
                 Scaling scaling = Scaling::full);

  /// The split-phase forms of the calls above: the caller works meanwhile, or has other plans under way, and calls
  /// `progress` of the Execution now and then.
  Execution start_forward(std::span<const Complex> in, std::span<Complex> out, Scaling scaling = Scaling::none);
  Execution start_forward(std::span<const Real> in, std::span<Complex> out, Scaling scaling = Scaling::none);
  Execution start_backward(std::span<const Complex> in, std::span<Complex> out, Scaling scaling = Scaling::none);
  Execution start_backward(std::span<const Complex> in, std::span<Real> out, Scaling scaling = Scaling::none);
  Execution start_forward(std::span<const Real> in, std::span<Real> out, Scaling scaling = Scaling::none);
  Execution start_backward(std::span<const Real> in, std::span<Real> out, Scaling scaling = Scaling::none);
  Execution start_convolve(std::span<const Complex> in, std::span<Complex> out, RowFunction<Real> on_spectrum,
                           Scaling scaling = Scaling::full);
  Execution start_convolve(std::span<const Real> in, std::span<Real> out, RowFunction<Real> on_spectrum,
                           Scaling scaling = Scaling::full);

  Execution start_collocate(std::span<const Complex> in, std::span<Complex> out, PointFunction<Complex> on_points,
                            Scaling scaling = Scaling::full);
  Execution start_collocate(std::span<const Complex> in, std::span<Complex> out, PointFunction<Real> on_points,
                            Scaling scaling = Scaling::full);
  Execution start_collocate(std::span<const Real> in, std::span<Real> out, PointFunction<Real> on_points,
                            Scaling scaling = Scaling::full);

  /// The decisions of planning, the memory of the plan, and the times of the last transform. Local.
  const Decision& decision() const noexcept;
  const MemoryNeed& memory() const noexcept;
  const Breakdown& last_breakdown() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

extern template class Plan<float>;
extern template class Plan<double>;

}  // namespace penstock::fft

#pragma GCC visibility pop

// Transforms of fields in the memory of ranks: plans and their runs. Included by fft.hpp.
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

namespace penstock::gas {
class Team;
}

namespace penstock::fft {

/// What `convolve` calls for each row of the spectrum of this rank: the wavenumbers (kx, ky, 0) to (kx, ky, nz - 1),
/// each counted from 0 (`signed_wavenumber` says which one is meant). It changes the row as it likes; several threads
/// call at the same time, with different rows. What it throws ends the transform on every rank.
template <class Real>
using RowFunction = std::function<void(std::int64_t kx, std::int64_t ky, std::span<std::complex<Real>> row)>;

/// The wavenumber of lowest magnitude that index k of n stands for: k, or k - n beyond n / 2.
constexpr std::int64_t signed_wavenumber(std::int64_t k, std::int64_t n) noexcept {
  return k <= n / 2 ? k : k - n;
}

/// A transform under way, begun by one of a plan's `start_` members. The plan and the arrays must outlive it; the plan
/// begins no other before it is done. Movable, not copyable; destroyed before it is done, it waits.
class [[nodiscard]] Execution {
 public:
  struct Work;
  explicit Execution(std::unique_ptr<Work> work) noexcept;
  ~Execution();
  Execution(Execution&&) noexcept;
  Execution& operator=(Execution&&) = delete;

  /// Does what can be done without waiting for peers, on the plan's threads. Returns whether all is done.
  bool progress();
  /// Does all, waiting for peers. Throws as the plan's calls do, and so does `progress`. Ranks that have several under
  /// way wait for them in the same order, or `wait_all`.
  void wait();

 private:
  std::unique_ptr<Work> work_;
};

/// Waits for all, working for each as what it waits for arrives.
void wait_all(std::span<Execution> executions);

/// The memory that a plan with these options, chosen by the model, would take on this rank of `team`; collective.
/// Throws as the plan would.
template <class Real>
MemoryNeed memory_need(const gas::Team& team, const Options& options);

/// A transform of given size over the ranks of a team, planned once and run many times.
///
/// Real is float or double. Movable, not copyable. All members are collective over the team unless said otherwise.
/// A plan runs one transform at a time; different plans may run at the same time on different threads if each was made
/// from a team of its own and MPI, where it is used, was initialised with MPI_THREAD_MULTIPLE.
///
/// Arrays: `input()` and `output()` say which points this rank holds and in which order; a rank may hold none. Both may
/// be the same memory: the input of a field is read whole before any of its output is written. Else the input is left
/// unchanged. Input and output that overlap but do not begin at the same place are refused.
///
/// Errors: the constructor throws penstock::Error on every rank when sizes, grid or options cannot be used, differ
/// between ranks, or need more memory than there is. A transform costs no agreement: where on one rank a span is too
/// short, overlaps the other or is not of the plan's type, the plan does not convolve or has a transform under way, or
/// something is thrown midway, that rank's sentence is thrown there and on every rank that waits for it, and the plan
/// is of no more use: its later calls throw the same at once, on every rank (see gas::Team). Other plans are not
/// concerned.
template <class Real>
class Plan {
  static_assert(std::is_same_v<Real, float> || std::is_same_v<Real, double>);

 public:
  using Complex = std::complex<Real>;

  /// The team is used for the plan's making only; the plan communicates over a team of its own.
  Plan(const gas::Team& team, const Options& options);
  ~Plan();
  Plan(Plan&&) noexcept;
  Plan& operator=(Plan&&) noexcept;

  /// The real-space points of this rank. Local.
  const Distribution& input() const noexcept;
  /// The wavenumbers of this rank (from 0 to n/2 in the first direction transformed for r2c). Local.
  const Distribution& output() const noexcept;

  /// With a batch, field i begins at element i * stride of the array. Both strides are the same number of bytes, which
  /// holds the larger of the two ends, so that a batch can be transformed in place. Local.
  std::int64_t input_stride() const noexcept;
  std::int64_t output_stride() const noexcept;

  /// Transforms with exp(-i k x). For type c2c.
  void forward(std::span<const Complex> in, std::span<Complex> out, Scaling scaling = Scaling::none);
  /// The same for type r2c.
  void forward(std::span<const Real> in, std::span<Complex> out, Scaling scaling = Scaling::none);
  /// Transforms with exp(+i k x). For type c2c.
  void backward(std::span<const Complex> in, std::span<Complex> out, Scaling scaling = Scaling::none);
  /// The same for type r2c.
  void backward(std::span<const Complex> in, std::span<Real> out, Scaling scaling = Scaling::none);
  /// Transforms by the plan's sines and cosines, and back by their inverse kinds. For type r2r.
  void forward(std::span<const Real> in, std::span<Real> out, Scaling scaling = Scaling::none);
  void backward(std::span<const Real> in, std::span<Real> out, Scaling scaling = Scaling::none);

  /// Forward, `on_spectrum` for each row of the spectrum, backward, in one call: the spectrum is never stored, which
  /// saves a pass over memory. For a plan that `convolves`; `in` and `out` are both in real space. With a batch,
  /// `on_spectrum` is called for one field after the other.
  void convolve(std::span<const Complex> in, std::span<Complex> out, const RowFunction<Real>& on_spectrum,
                Scaling scaling = Scaling::full);
  void convolve(std::span<const Real> in, std::span<Real> out, const RowFunction<Real>& on_spectrum,
                Scaling scaling = Scaling::full);

  /// The same calls, begun but not waited for: the caller works meanwhile, or has other plans under way, and calls
  /// `progress` now and then.
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

  /// What was decided, what it takes, and where the last transform's time went. Local.
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

// What users do with distributed fields: make or read them, transform and time them, filter, sum up, check and write.
#pragma once

#include <complex>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "penstock/base/memory.hpp"
#include "penstock/fft/fft.hpp"
#include "penstock/gas/gas.hpp"
#include "penstock/npy/npy.hpp"

namespace penstock::field {

using fft::Distribution;
using fft::Extents;

/// Where the values of a field in real space come from. Immutable; may be read on any rank, for any part.
class Source {
 public:
  virtual ~Source() = default;
  /// Fills `numbers` with the values at the points of `box`, as [z][y][x]: one number per point of a real field, real
  /// and imaginary part of a complex one. `index` tells the fields of a batch apart. Local. Throws Error where a file
  /// cannot be read.
  virtual void fill(const fft::Box& box, int index, std::span<float> numbers) const = 0;
  virtual void fill(const fft::Box& box, int index, std::span<double> numbers) const = 0;
};

/// Noise in [-1, 1) that depends on the global index of a point and on the field's index alone, so that it is the same
/// on any number of ranks.
std::unique_ptr<Source> make_noise(const Extents& size, fft::Type type);

/// A plane wave: amplitude * exp(2 pi i (kx x / nx + ky y / ny + kz z / nz)), of which a real field has the real part.
struct Wave {
  Extents wavenumber{};
  std::complex<double> amplitude;
};

/// A sum of plane waves. Phases are reduced in whole numbers, so that no point loses digits.
std::unique_ptr<Source> make_waves(const Extents& size, fft::Type type, std::vector<Wave> waves);

/// What a file holds.
struct FileDescription {
  Extents size{};  ///< nx, ny, nz: the file's shape is (nz, ny, nx)
  npy::DataType data_type = npy::DataType::float64;
  fft::Type type() const noexcept { return npy::is_complex(data_type) ? fft::Type::c2c : fft::Type::r2c; }
};

/// Collective: reads what the .npy file `path` holds. Throws Error on every rank where it is none, has not three
/// dimensions, or looks different on different ranks.
FileDescription inspect_file(const gas::Team& team, const std::string& path);

/// The values in the .npy file `path`, for every field of a batch the same; single and double precision are converted.
/// Local; throws Error as npy::Reader does.
std::unique_ptr<Source> open_file(const std::string& path);

/// A .npy file that the ranks write together, in C order [z][y][x], whatever the order on the ranks. The members are
/// collective and throw on every rank or on none. A file not committed is removed.
class OutputFile {
 public:
  /// Makes room for `points` (nx, ny, nz) elements beside the final path. The team must outlive the file.
  OutputFile(const gas::Team& team, const std::string& path, npy::DataType type, const Extents& points);
  ~OutputFile();
  OutputFile(OutputFile&&) noexcept;
  OutputFile& operator=(OutputFile&&) noexcept;

  /// Writes this rank's part: elements of the file's type, in the order of `part`.
  void write(const Distribution& part, std::span<const std::byte> elements);
  /// Brings everything to the disk and gives the file its name; once, after `write`.
  void commit();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// A batch of fields with the plan that transforms them in place: real space and spectrum by turns, in one memory.
///
/// Movable, not copyable. Members are collective where the plan's are.
template <class Real>
class Fields {
 public:
  using Complex = std::complex<Real>;

  /// Collective: throws Error on every rank where the fields and their plan do not fit the memory, or the budget. What
  /// the constructor begins with.
  static void require_memory(const gas::Team& team, const fft::Options& options);
  /// Collective: the bytes that require_memory wants of this rank; where the fields alone are beyond the budget, those.
  static std::uint64_t needed_bytes(const gas::Team& team, const fft::Options& options);

  /// Collective; throws Error on every rank as fft::Plan and require_memory do.
  Fields(const gas::Team& team, const fft::Options& options);

  const fft::Options& options() const noexcept { return options_; }
  const fft::Plan<Real>& plan() const noexcept { return plan_; }
  /// The memory of this rank's fields, without the plan's. Local.
  std::span<std::byte> memory() noexcept { return {memory_.data(), memory_.size()}; }

  /// The numbers of field `index` in real space (see Source), and those of its spectrum: one per point for type r2r,
  /// else real and imaginary part. Local.
  std::span<Real> numbers(int index) noexcept;
  std::span<Real> spectrum_numbers(int index) noexcept;
  /// The spectrum of field `index` where it is complex. Local.
  std::span<Complex> spectrum(int index) noexcept;

  /// Collective: fills all fields from `source`.
  void fill(const Source& source);
  /// Collective: transforms all fields; throws as fft::Plan does.
  void forward(fft::Scaling scaling);
  void backward(fft::Scaling scaling);

 private:
  void transform(bool is_forward, fft::Scaling scaling);

  const gas::Team* team_;
  fft::Options options_;
  fft::Plan<Real> plan_;
  Memory memory_;
};

extern template class Fields<float>;
extern template class Fields<double>;

/// The scaling that together with `scaling` makes backward the inverse of forward.
fft::Scaling inverse(fft::Scaling scaling) noexcept;

/// The times of one direction's repetitions, each the slowest rank's, and where the best one's went (mean over ranks).
struct Times {
  std::vector<double> all_s;
  fft::Breakdown best;
  double min_s() const;
  double median_s() const;
};

/// Both directions.
struct RoundTrips {
  Times forward;
  Times backward;
};

/// Collective: transforms forward and backward by turns, `repetitions` times after one that is not counted, with a
/// barrier before each. The fields are what they were before, up to rounding; backward has the inverse scaling. Throws
/// Error on every rank where they differ in scaling or repetitions.
template <class Real>
RoundTrips time_round_trips(const gas::Team& team, Fields<Real>& fields, fft::Scaling scaling, int repetitions);

/// Sets all modes with a wavenumber beyond `radius` to zero: sqrt(kx^2 + ky^2 + kz^2) > radius, each k the one nearest
/// to 0 of those that stand for the mode. `spectrum` is this rank's `part` of the spectrum of a field of `size` points.
/// Local. Returns the number of modes kept in this part, doubled ones of type r2c counted twice.
template <class Real>
double filter_low_pass(const Extents& size, fft::Type type, const Distribution& part,
                       std::span<std::complex<Real>> spectrum, double radius);

/// Power by wavenumber: shell i has the modes whose wavenumber rounds to i.
struct RadialSpectrum {
  std::vector<double> power;  ///< sums over the shell of |mode|^2; all shells make up the field's mean square
  std::vector<double> modes;  ///< how many modes
};

/// Collective: sums up the power of a spectrum that forward with `scaling` has made. Throws Error on every rank where
/// they differ in size, type or scaling, or a spectrum is shorter than its part.
template <class Real>
RadialSpectrum sum_shells(const gas::Team& team, const Extents& size, fft::Type type, const Distribution& part,
                          std::span<const std::complex<Real>> spectrum, fft::Scaling scaling);

/// The error allowed for a transform of this size: 1e-15 log2 N in double precision, 6e-7 log2 N in single.
template <class Real>
double tolerance(const Extents& size) noexcept;

/// Collective: checks both directions on fields filled from `source`. Returns a relative error in the L2 norm, the same
/// on every rank: the largest of all fields, forward and on the way back. The error of the spectrum is estimated,
/// within a factor of two or so, from sums with random weights over the field and over the spectrum (Freivalds 1977),
/// in long double, which take no other transform and no memory to speak of; the fields that come back are compared
/// point by point. Infinite where anything is not a number. Throws Error on every rank where ranks differ in scaling or
/// the source throws. Leaves the fields in real space as `source` has them, up to rounding.
template <class Real>
double check(const gas::Team& team, Fields<Real>& fields, const Source& source, fft::Scaling scaling);

}  // namespace penstock::field

// Operations on distributed fields: to make or read fields, transform and time them, filter, sum up, check and write.
#pragma once

#include <complex>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "penstock/base/memory.hpp"
#include "penstock/device/device.hpp"
#include "penstock/fft/fft.hpp"
#include "penstock/gas/gas.hpp"
#include "penstock/npy/npy.hpp"
#include "penstock/volume/volume.hpp"

#pragma GCC visibility push(default)

namespace penstock::field {

using fft::Distribution;
using fft::Extents;

/// A source of the values of a field in real space. Immutable; any rank may read any part.
class Source {
 public:
  virtual ~Source() = default;
  /// Fills `numbers` with the values at the points of `box`, as [z][y][x]: one number per point of a real field, real
  /// and imaginary part of a complex one. `index` is the field's number in a batch. Local. Throws Error where a file
  /// cannot be read.
  virtual void fill(const fft::Box& box, int index, std::span<float> numbers) const = 0;
  virtual void fill(const fft::Box& box, int index, std::span<double> numbers) const = 0;
};

/// Noise in [-1, 1). A value depends only on the global index of its point and on the field's index, so the noise is
/// the same on any number of ranks.
std::unique_ptr<Source> make_noise(const Extents& size, fft::Type type);

/// A plane wave: amplitude * exp(2 pi i (kx x / nx + ky y / ny + kz z / nz)). A real field takes the real part.
struct Wave {
  Extents wavenumber{};
  std::complex<double> amplitude;
};

/// A sum of plane waves. Phases are reduced in integers, so that no point loses digits.
std::unique_ptr<Source> make_waves(const Extents& size, fft::Type type, std::vector<Wave> waves);

/// The size and the type of elements of a field in a file.
struct FileDescription {
  Extents size{};  ///< nx, ny, nz: the shape in a .npy or HDF5 file is (nz, ny, nx)
  npy::DataType data_type = npy::DataType::float64;
  fft::Type type() const noexcept { return npy::is_complex(data_type) ? fft::Type::c2c : fft::Type::r2c; }
};

/// Collective: reads what the file of field `name` (see volume.hpp) says of it. Throws Error on every rank as
/// volume::Reader does, and where ranks find different files.
FileDescription inspect_file(const gas::Team& team, const std::string& name);

/// The values in the file of field `name` (see volume.hpp), the same for every field of a batch; single and double
/// precision are converted. Local. Throws Error as volume::Reader does.
std::unique_ptr<Source> open_file(const std::string& name);

/// A file of one of the formats of volume.hpp that the ranks write together, in C order [z][y][x], whatever the order
/// on the ranks. The members are collective and throw on every rank or on none. A file that is not committed is
/// removed.
class OutputFile {
 public:
  /// Reserves a file for `points` (nx, ny, nz) elements beside the final path. What the field `like` says of its place
  /// in space is kept, if it is of the same format and size. Throws Error as volume::Writer does. The team must outlive
  /// the object.
  OutputFile(const gas::Team& team, const std::string& name, npy::DataType type, const Extents& points,
             const std::string& like = "");
  ~OutputFile();
  OutputFile(OutputFile&&) noexcept;
  OutputFile& operator=(OutputFile&&) noexcept;

  /// The files that are to be removed where the process ends without a commit; none where that is for another rank.
  /// Local.
  std::vector<std::string> unfinished_paths() const;
  /// Writes this rank's part: elements of the file's type, in the order of `part`. Throws Error where they are too few.
  void write(const Distribution& part, std::span<const std::byte> elements);
  /// Writes everything to the disk and renames the file to its final path; once, after `write`.
  void commit();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// A device whose transforms fields take, and where they lie between transforms.
struct OnDevice {
  std::shared_ptr<const device::Device> device;
  /// In device memory: they cross the bus where numbers are asked for, and before the next transform. Else in host
  /// memory, and each transform brings them to the device and back.
  bool are_resident = true;
};

/// A batch of fields with the plan that transforms them in place: one memory holds real space and spectrum by turns.
///
/// Movable, not copyable. Members are collective where the plan's are.
template <class Real>
class Fields {
 public:
  using Complex = std::complex<Real>;

  /// Collective: throws Error on every rank where the fields and their plan do not fit the memory, or the budget. The
  /// constructor calls this first.
  static void require_memory(const gas::Team& team, const fft::Options& options);
  /// Collective: the bytes that require_memory counts for this rank. Where the fields and one exchange of a field alone
  /// exceed the budget on some rank, only these are counted.
  static std::uint64_t needed_bytes(const gas::Team& team, const fft::Options& options);

  /// Collective; throws Error on every rank as fft::Plan and require_memory do.
  Fields(const gas::Team& team, const fft::Options& options);
  /// The same with an fft::DevicePlan; throws as that does.
  Fields(const gas::Team& team, const fft::Options& options, const OnDevice& on_device);
  ~Fields();
  Fields(Fields&&) noexcept;
  Fields& operator=(Fields&&) noexcept;

  const fft::Options& options() const noexcept { return options_; }
  /// Of the fields of processors, and of those of devices.
  const fft::Plan<Real>& plan() const noexcept { return *plan_; }
  const fft::DevicePlan<Real>& device_plan() const noexcept { return *device_plan_; }
  /// This rank's part in real space and of the spectrum. Local.
  const Distribution& input() const noexcept { return plan_ ? plan_->input() : device_plan_->input(); }
  const Distribution& output() const noexcept { return plan_ ? plan_->output() : device_plan_->output(); }
  /// The times of the last transform. Local.
  const fft::Breakdown& last_breakdown() const noexcept {
    return plan_ ? plan_->last_breakdown() : device_plan_->last_breakdown();
  }
  /// The memory of this rank's fields, without that of the plan. Local.
  std::span<std::byte> memory() noexcept { return memory_; }

  /// The numbers of field `index` in real space (see Source), and those of its spectrum: one per point for type r2r,
  /// else real and imaginary part. Local.
  std::span<Real> numbers(int index);
  std::span<Real> spectrum_numbers(int index);
  /// The spectrum of field `index`, for types with a complex spectrum. Local.
  std::span<Complex> spectrum(int index);

  /// Collective: fills all fields from `source`.
  void fill(const Source& source);
  /// Collective: transforms all fields in place; throws as fft::Plan does.
  void forward(fft::Scaling scaling);
  void backward(fft::Scaling scaling);

 private:
  void transform(bool is_forward, fft::Scaling scaling);
  void bring_to_host();
  void bring_to_device();
  std::int64_t stride_bytes() const noexcept;

  const gas::Team* team_;
  fft::Options options_;
  std::optional<fft::Plan<Real>> plan_;
  std::optional<fft::DevicePlan<Real>> device_plan_;
  Memory host_memory_;
  std::unique_ptr<device::HostMemory> pinned_memory_;
  std::span<std::byte> memory_;                    // one of these
  std::unique_ptr<device::Memory> device_memory_;  // of resident fields
  std::unique_ptr<device::Stream> stream_;
  bool is_on_device_ = false;  // the newest numbers
};

extern template class Fields<float>;
extern template class Fields<double>;

/// The scaling for backward that makes it the inverse of forward with `scaling`.
fft::Scaling inverse(fft::Scaling scaling) noexcept;

/// The times of one direction's repetitions, each that of the slowest rank, and the breakdown of the best one (mean
/// over ranks).
struct Times {
  std::vector<double> all_s;
  fft::Breakdown best;
  std::vector<fft::Breakdown> best_of_ranks = {};  ///< the same repetition's, by rank
  double min_s() const;
  double median_s() const;
  /// The fastest, numbered from 1.
  int best_repetition() const;
};

/// The times of both directions.
struct RoundTrips {
  Times forward;
  Times backward;
};

/// Collective: transforms forward and backward by turns, `repetitions` times after a round trip that is not counted,
/// with a barrier before each transform. Backward has the inverse scaling, so the fields are as before, up to rounding.
/// Calls `tell`, on every rank that gives it, before each round trip with its number: 0 is the one that is not counted.
/// Throws Error on every rank where the ranks differ in scaling or repetitions.
template <class Real>
RoundTrips time_round_trips(const gas::Team& team, Fields<Real>& fields, fft::Scaling scaling, int repetitions,
                            const std::function<void(int)>& tell = {});

/// Sets all modes with a wavenumber beyond `radius` to zero: sqrt(kx^2 + ky^2 + kz^2) > radius, where each k is the one
/// nearest to 0 of those that the index stands for. `spectrum` is this rank's `part` of the spectrum of a field of
/// `size` points. Local. Returns how many modes of the whole spectrum those kept in this part stand for: a mode of type
/// r2c with a mirror image outside of the half that is stored counts twice.
template <class Real>
double filter_low_pass(const Extents& size, fft::Type type, const Distribution& part,
                       std::span<std::complex<Real>> spectrum, double radius);

/// Power by wavenumber. Shell i has the modes whose wavenumber rounds to i.
struct RadialSpectrum {
  std::vector<double> power;  ///< by shell: the sum of |mode|^2; all shells add up to the field's mean square
  std::vector<double> modes;  ///< by shell: how many modes
};

/// Collective: sums up the power of a spectrum that forward with `scaling` has made. Throws Error on every rank where
/// the ranks differ in size, type or scaling, or where one gives fewer modes than its part has.
template <class Real>
RadialSpectrum sum_shells(const gas::Team& team, const Extents& size, fft::Type type, const Distribution& part,
                          std::span<const std::complex<Real>> spectrum, fft::Scaling scaling);

/// The tolerance for `check` of a transform of N points: 1e-15 log2 N in double precision, 6e-7 log2 N in single, with
/// log2 N at least 1.
template <class Real>
double tolerance(const Extents& size) noexcept;

/// Collective: fills the fields from `source`, transforms them forward and back, and checks both directions. Returns a
/// relative error in the L2 norm, the same on every rank: the largest of all fields and both directions. It is infinite
/// where anything is not a number.
///
/// The error of the spectrum is estimated, within a factor of two or so, from sums with random weights over the field
/// and over the spectrum (Freivalds 1977), in long double. The sums take no other transform, and hardly any memory. The
/// fields that come back are compared with `source` point by point, and stay as they are. Throws Error on every rank
/// where ranks differ in scaling or the source throws, and as fft::Plan does.
template <class Real>
double check(const gas::Team& team, Fields<Real>& fields, const Source& source, fft::Scaling scaling);

}  // namespace penstock::field

#pragma GCC visibility pop

// The distribution of a field over ranks, and the options of a plan. Included by fft.hpp.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "penstock/base/processor.hpp"
#include "penstock/fft/kinds.hpp"
#include "penstock/fft/wisdom.hpp"
#include "penstock/machine/machine.hpp"
#include "penstock/shape/shape.hpp"

#pragma GCC visibility push(default)

namespace penstock::gas {
class ExchangeMethod;
}

namespace penstock::fft {

/// The part of a field that one rank holds: a box, and how it lies in the rank's array. `order` is that of its
/// directions from slowest to fastest: {2, 1, 0} is [z][y][x] with x contiguous.
struct Distribution {
  Box box;
  std::array<int, 3> order{2, 1, 0};
  /// Padding: the elements from one row to the next, and from one plane to the next. A row has the indices along
  /// `order[2]`, a plane has the rows along `order[1]`. 0: no padding. Transforms neither read nor write the elements
  /// between rows and between planes.
  std::int64_t row_pitch = 0;
  std::int64_t plane_pitch = 0;
  /// The elements of a point, beside each other: the fields of an interleaved batch (see Options::is_interleaved). The
  /// plan sets it.
  std::int64_t components = 1;

  /// The position in the rank's array of the point (x, y, z), which lies in `box`: of its first component.
  std::int64_t position(std::int64_t x, std::int64_t y, std::int64_t z) const noexcept;
  /// The elements from one index to the next, by direction.
  Extents strides() const noexcept;
  /// The elements of the array, padding included, up to the last point of the box; 0 where the box is empty.
  std::int64_t elements() const noexcept;
};

/// The distribution of the spectrum, unless `output_part` gives it.
enum class Output {
  transposed,  ///< pencils along the last transformed direction and contiguous in it ([x][y][z] for z): where the last
               ///< transform leaves the spectrum, so no further exchange. With one transformed direction: as the input
  as_input,    ///< in the input's order ([z][y][x] with x contiguous, or that of `input_part`): one exchange more. A
               ///< rank has the indices of its part of the input, with its padding; for r2c and for fewer modes, those
               ///< of them that `spectrum_points` has, without padding
};

/// How a local transform chooses its variant.
enum class Effort {
  estimate,  ///< by estimated costs: always the same variant, so that results are equal to the last bit
  measure,   ///< by timing the variants for some tenths of a second; for less where wisdom is given
};

/// What copies tiles to and from the user's array, exchanges and planes.
enum class Movers {
  compiled,       ///< machine code made for each shape, where that is faster and this build can make it
  ahead_of_time,  ///< kernels compiled with the library
};

/// The threads that poll the network while a rank computes. Matters only where some ranks do not map one another's
/// memory.
enum class Progress {
  automatic,  ///< `thread` where each rank has a processor left for it and it was measured to hide at least 5 % of a
              ///< transfer more; else `tiles`
  tiles,      ///< the threads that transform, between tiles
  thread,     ///< a thread of the plan's own, while a transform runs; see gas::ProgressThread
};

/// How a plan chooses its tuning (see shape::Tuning) where the options leave it open.
enum class Planning {
  model,    ///< by the model of the machine
  measure,  ///< by timing candidates, best by the model first, as `planning_budget_s` allows
};

/// The options of a plan. They must be the same on every rank, except threads, machine and the boxes of the parts.
struct Options {
  Extents size{};  ///< nx, ny, nz: points of the field in real space
  /// The modes of the spectrum, at most `size`: those of a field of so many points. `forward` leaves out the higher
  /// ones, `backward` takes them as 0, and neither transforms or exchanges them: with size = 3/2 modes, products of two
  /// fields have no aliases among the modes. Where the modes of a Fourier transform are even, and fewer than the
  /// points, the coefficient of wavenumber n/2 is the sum of those of n/2 and -n/2, which of real numbers is real. 0:
  /// all.
  Extents modes{};
  Type type = Type::c2c;
  /// The sine or cosine transform in x, y and z. Nothing: a Fourier transform, and redft10 for type r2r. Sines and
  /// cosines of complex numbers are those of the real and of the imaginary part.
  std::array<std::optional<RealKind>, 3> kinds{};
  /// Whether x, y, z are transformed. None: `forward` brings the elements from the input's parts to the output's, and
  /// `backward` brings them back.
  std::array<bool, 3> along{true, true, true};
  /// The order in which directions are transformed: each of 0 (x), 1 (y) and 2 (z) once. Unless parts are given, ranks
  /// begin with pencils along the first of them that is transformed and end with pencils along the last.
  std::array<int, 3> sequence{0, 1, 2};
  /// The ranks that cut the second and the third direction of the sequence (y and z), their product the team's; 0 x 0:
  /// the plan chooses.
  Grid grid{};
  Output output = Output::transposed;
  /// This rank's part of the field and of the spectrum by index ranges (see spectrum_points), each given on every
  /// rank or on none. The boxes of all ranks together hold every point once. A box may be empty. The order is the same
  /// on all ranks; pitches may differ. Directions are transformed in the boxes of the input as long as these are whole
  /// along them and spread the work, the last ones in those of the output: slabs and pencils, however they are cut,
  /// need no exchange more. A part in which no direction is transformed costs one.
  std::optional<Distribution> input_part{};
  std::optional<Distribution> output_part{};
  /// Planes per message and deferred parts: see shape::Tuning. Nothing: the plan chooses.
  std::optional<std::int64_t> planes_per_message{};
  std::optional<std::int64_t> deferred_parts{};
  /// Another implementation of exchanges than the library's own, for comparison; it defers no parts. nullptr: the
  /// library's.
  std::shared_ptr<const gas::ExchangeMethod> exchange_method = {};
  Progress progress = Progress::automatic;
  int threads = 1;  ///< threads of each rank that transform
  int batch = 1;    ///< fields per call
  /// How the fields of a batch lie in the arrays: one after the other (see Plan::input_stride), or, where this is true,
  /// with the elements of a point beside each other, as the components of a vector: [z][y][x][field]. Pitches count
  /// elements of all fields.
  bool is_interleaved = false;
  Effort effort = Effort::estimate;
  std::string local{};  ///< the library of local transforms: "penstock", or "fftw" where this build has it; empty: the
                        ///< first of these that can do the type
  std::optional<InstructionSet> instruction_set{};  ///< of Penstock's own local transforms; nothing: the widest usable
  Movers movers = Movers::compiled;
  bool convolves = false;   ///< whether the plan can `convolve`. It then takes exchange memory for both ways at once,
                            ///< must transform all three directions, and must have a complex spectrum
  bool collocates = false;  ///< whether the plan can `collocate`. It then takes exchange memory for both ways at once
  /// Whether the plan has an input and an output array of its own (Plan::input_array, Plan::output_array), in memory
  /// that the ranks of a node map. `forward` then writes the latter and `backward` the former, not in place. Where all
  /// ranks are of one node, they write what only changes places at the end (Output::as_input, parts, redistribution)
  /// into each other's arrays at once: one pass over memory less.
  bool has_arrays = false;
  /// The memory that a plan may take on one node; 0: what the system has left. Of a device plan: what it may take of
  /// one device, beside arrays of the user there; 0: what is free.
  std::uint64_t memory_budget_bytes = 0;
  Planning planning = Planning::model;
  double planning_budget_s = 10;  ///< after this time no further candidate is timed
  /// What measuring has found before: rank 0's decides; every rank adds to its own what is measured now.
  std::shared_ptr<Wisdom> wisdom = {};
  std::optional<machine::Machine> machine{};  ///< the machine that the model predicts for; nothing: machine::detect()
};

/// The points of the spectrum in x, y and z: its modes. For r2c the direction of the first Fourier transform has n/2 +
/// 1 of n. Local.
Extents spectrum_points(const Options& options) noexcept;

/// The sine or cosine transform along x (0), y or z; nothing where it is a Fourier transform. Local.
std::optional<RealKind> real_kind(const Options& options, int direction) noexcept;

/// The factor that `scaling` stands for in a plan with these options. Local.
double factor_of(Scaling scaling, const Options& options) noexcept;

/// The names of this build's libraries of local transforms, for messages; in the order in which they are tried.
std::string local_transform_names();

}  // namespace penstock::fft

#pragma GCC visibility pop

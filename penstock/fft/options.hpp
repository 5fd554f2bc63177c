// How a field lies in the memory of ranks, and what a plan is made from. Included by fft.hpp.
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

namespace penstock::gas {
class ExchangeMethod;
}

namespace penstock::fft {

/// The part of a field that one rank holds, and how: the directions from slowest to fastest, so that {2, 1, 0} is
/// [z][y][x] with x contiguous. No padding.
struct Distribution {
  Box box;
  std::array<int, 3> order{2, 1, 0};
  /// The position in the rank's array of the point (x, y, z), which lies in `box`.
  std::int64_t position(std::int64_t x, std::int64_t y, std::int64_t z) const noexcept;
};

/// How the spectrum is distributed, where it is not said by index ranges.
enum class Output {
  transposed,  ///< z-pencils, [x][y][z] with z contiguous: where the last transform leaves it, the cheap one. Where z
               ///< is not transformed: pencils of the last direction that is, contiguous in it; of one alone, as the
               ///< input
  as_input,    ///< x-pencils, [z][y][x] with x contiguous, like the input: one exchange more. Of an `input_part` of the
               ///< user's the spectrum has the same points, of r2c as far as there are coefficients
};

/// How the local transform chooses its variant.
enum class Effort {
  estimate,  ///< by what variants cost: the same always, so that results are the same to the last bit
  measure,   ///< by timing them, some tenths of a second; less where wisdom is at hand
};

/// How tiles are copied from and to the places where they lie.
enum class Movers {
  compiled,       ///< by machine code made for each shape, where that is faster and this build makes it
  ahead_of_time,  ///< by kernels compiled with the library
};

/// Who polls the network while a rank computes, where ranks do not map one another's memory.
enum class Progress {
  automatic,  ///< a thread where each rank has a processor left for one and that was seen to hide more, else tiles
  tiles,      ///< the threads that transform, between tiles
  thread,     ///< a thread of the plan's own, while it runs; see gas::ProgressThread
};

/// How a plan chooses its tuning (see shape::Tuning) where the options leave it open.
enum class Planning {
  model,    ///< by the model of the machine
  measure,  ///< of those that are best by the model some are made and timed
};

/// What a plan is made from; the same on every rank, but for threads, machine and the boxes of the parts.
struct Options {
  Extents size{};  ///< nx, ny, nz: points of the field in real space
  Type type = Type::c2c;
  std::array<RealKind, 3> kinds{RealKind::redft10, RealKind::redft10, RealKind::redft10};  ///< of type r2r: x, y, z
  std::array<bool, 3> along{true, true, true};  ///< the directions that are transformed, x, y, z: at least one
  Grid grid{};                                  ///< ranks in y and z; 0 x 0: the plan chooses
  Output output = Output::transposed;
  /// This rank's part of the field and of the spectrum by index ranges (0 to nx/2 in x for r2c), each given on every
  /// rank or on none. The boxes of all ranks together hold every point once; they may be empty; the order is the same
  /// on all ranks. Where the parts are pencils as the grid cuts them they are used as they are; others cost an exchange
  /// more each.
  std::optional<Distribution> input_part{};
  std::optional<Distribution> output_part{};
  /// Planes that share a message, and parts that are sent last: see shape::Tuning. Nothing: the plan chooses.
  std::optional<std::int64_t> planes_per_message{};
  std::optional<std::int64_t> deferred_parts{};
  /// Another way to carry exchanges than the library's own, to be compared with; it defers nothing. nullptr: none.
  std::shared_ptr<const gas::ExchangeMethod> exchange_method = {};
  Progress progress = Progress::automatic;
  int threads = 1;  ///< threads of each rank that transform
  int batch = 1;    ///< fields per call, in the same arrays; see Plan::input_stride
  Effort effort = Effort::estimate;
  std::string local{};  ///< which local transforms: "penstock", or "fftw" where this build has it; empty: the first of
                        ///< these that can do the type
  std::optional<InstructionSet> instruction_set{};  ///< of our own local transforms; nothing: the widest that is usable
  Movers movers = Movers::compiled;
  bool convolves = false;                 ///< the plan can `convolve`: takes exchange memory for both ways at once; all
                                          ///< three directions are transformed, the spectrum is complex
  std::uint64_t memory_budget_bytes = 0;  ///< what plans of one node may take; 0: what the system has left
  Planning planning = Planning::model;
  double planning_budget_s = 10;              ///< no other candidate is timed after so long
  std::shared_ptr<Wisdom> wisdom = {};        ///< what measuring has found before; rank 0's is asked and added to
  std::optional<machine::Machine> machine{};  ///< which the model is asked about; nothing: machine::detect()
};

/// The points of the spectrum in x, y and z: for r2c n/2 + 1 in the first direction transformed. Local.
Extents spectrum_points(const Options& options) noexcept;

/// The factor that `scaling` stands for in a plan with these options. Local.
double factor_of(Scaling scaling, const Options& options) noexcept;

/// The names of the local transforms of this build, for people; those first that are taken where none is named.
std::string local_transform_names();

}  // namespace penstock::fft

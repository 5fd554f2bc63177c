// Distributed 3-D fast Fourier transforms. In the order of reading:
//
// - kinds.hpp: what is transformed into what
// - choices.hpp: what measuring has found before
// - this file: fields in the memory of ranks, transformed by a Plan
// - out_of_core.hpp: fields in files, larger than memory
#pragma once

#include <array>
#include <complex>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "penstock/base/processor.hpp"
#include "penstock/fft/choices.hpp"
#include "penstock/fft/kinds.hpp"
#include "penstock/fft/out_of_core.hpp"
#include "penstock/gas/gas.hpp"
#include "penstock/machine/machine.hpp"
#include "penstock/model/model.hpp"

namespace penstock::fft {

/// A box of grid points: `extent` points from `lower` on, in x, y and z.
struct Box {
  Extents lower{};
  Extents extent{};
  std::int64_t count() const noexcept { return extent[0] * extent[1] * extent[2]; }
  bool operator==(const Box&) const = default;
};

/// The part of a field that one rank holds, and how: the directions from slowest to fastest, so that
/// {2, 1, 0} is [z][y][x] with x contiguous. No padding.
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

/// How many planes share a message, where the two published algorithms are the ends of one scale, the grain.
enum class Algorithm {
  automatic,  ///< packed where peers share memory, else a few messages per peer, so that they overlap
  packed,     ///< packed slabs: one message per peer and exchange
  slabs,      ///< a message per plane, peer and exchange: most overlap
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

/// Who looks after the network while a rank computes, where ranks do not map one another's memory.
enum class Progress {
  automatic,  ///< a thread where each rank has a processor left for one and that was seen to hide more, else tiles
  tiles,      ///< the threads that transform, between tiles
  thread,     ///< a thread of the plan's own, while it runs; see gas::ProgressThread
};

/// How a plan chooses the grid and the planes per message where the options leave them open.
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
  Grid grid{};
  Output output = Output::transposed;
  /// This rank's part of the field and of the spectrum by index ranges (0 to nx/2 in x for r2c), each given on every
  /// rank or on none. The boxes of all ranks together hold every point once; they may be empty; the order is the same
  /// on all ranks. Where the parts are pencils as the grid cuts them they are used as they are; others cost an exchange
  /// more each.
  std::optional<Distribution> input_part{};
  std::optional<Distribution> output_part{};
  Algorithm algorithm = Algorithm::automatic;
  std::int64_t grain = 0;  ///< planes per message; 0 leaves it to `algorithm`
  /// Where a peer walks planes of another direction: of what it receives, the eighths (0 to 7) that are sent after all
  /// else, in the order in which it reads them, so that it transforms the first of them while the others are under way.
  /// Nothing leaves the choice, which is none but for Algorithm::automatic; an `exchange_method` can have none.
  std::optional<std::int64_t> late_eighths{};
  /// Another way to carry exchanges than the library's own, to be compared with; nullptr: none.
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
  double planning_budget_s = 10;          ///< no other candidate is timed after so long
  std::shared_ptr<Choices> choices = {};  ///< what measuring has found before; rank 0's are asked and added to
  machine::Machine machine = machine::detect();
};

/// What a plan costs a rank in memory, and beyond it one field of the user's, transformed in place.
struct MemoryNeed {
  std::uint64_t exchange_bytes = 0;  ///< what peers write into, and buffers for messages to other nodes
  std::uint64_t scratch_bytes = 0;   ///< tiles and planes in cache, per thread
  std::uint64_t field_bytes = 0;     ///< the user's own; not in the total
  std::uint64_t total_bytes() const noexcept { return exchange_bytes + scratch_bytes; }
};

/// The most stages of a call: one per direction, there and (in a convolution) back, and one that only moves data at
/// each end where the user's part is not what the first or last transform takes.
inline constexpr std::size_t most_stages = 7;

/// Where the time of one stage went, summed over the threads of a rank and divided by their number.
struct StageTime {
  double gather_s = 0;     ///< tiles into cache
  double transform_s = 0;  ///< 1-D transforms in cache
  double scatter_s = 0;    ///< tiles to where they go next
  double wait_s = 0;       ///< for peers
};

/// Where the time of a transform went.
struct Breakdown {
  std::array<StageTime, most_stages> stages{};  ///< in the order in which they run
  double total_s = 0;                           ///< from call to return
  double transform_s() const noexcept;
  double move_s() const noexcept;  ///< gathering and scattering
  double wait_s() const noexcept;
  /// Adds `share` of another one's times, as for a sum or a mean.
  void add(const Breakdown& other, double share = 1) noexcept;
};

/// One stage as planned, on this rank.
struct StagePlan {
  int pass = 0;                     ///< stages of one pass are joined by a plane in cache
  int along = 0;                    ///< the direction of its transforms
  bool is_move = false;             ///< no transform: data changes places
  std::uint64_t bytes_read = 0;     ///< from memory: the user's array, or what peers wrote
  std::uint64_t bytes_written = 0;  ///< to memory: the user's array, the peers', messages
};

/// A transform as the model is asked about it: `model::planned_fft_time(machine, run)`.
struct ModelledRun {
  machine::Machine machine;  ///< of the options, with what messages between nodes reach where it does not tell that
  model::PlannedFft run;
  bool is_known = false;  ///< the model knows such transforms: complex or real, along all directions, in our own ways
};

/// What a plan decided.
struct Decision {
  Grid grid{};
  std::int64_t grain = 0;             ///< planes per message in the forward direction; 0: all
  std::int64_t late_eighths = 0;      ///< as in Options
  std::string exchange_method;        ///< the name of that of the options; empty: our own
  bool has_progress_thread = false;   ///< a thread looks after the network
  std::string local;                  ///< what transforms pencils along the first direction
  bool is_plane_in_cache = false;     ///< the first two directions are transformed in one pass over memory
  std::vector<Candidate> candidates;  ///< all that were looked at, the one chosen first
  ModelledRun modelled;
  int passes = 0;  ///< how often a transform reads and writes the field
  std::vector<StagePlan> forward_stages;
  std::vector<StagePlan> backward_stages;
  std::vector<StagePlan> convolution_stages;  ///< none where the plan does not convolve
};

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

/// The points of the spectrum in x, y and z: for r2c n/2 + 1 in the first direction transformed. Local.
Extents spectrum_points(const Options& options) noexcept;

/// The factor that `scaling` stands for in a plan with these options. Local.
double factor_of(Scaling scaling, const Options& options) noexcept;

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

/// The names of the local transforms of this build, for people; those first that are taken where none is named.
std::string local_transform_names();

/// Reads or writes what the local transforms have learned about this machine by Effort::measure, those of each library
/// of this build. Not collective. `import_wisdom` returns false where the text is not wisdom of this version, which
/// changes nothing, or what it has of a library is damaged, which adds nothing to that library's.
bool import_wisdom(const std::string& text);
std::string export_wisdom();

}  // namespace penstock::fft

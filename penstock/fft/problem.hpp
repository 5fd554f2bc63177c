// The problem of a plan: the options, checked, with what they leave open resolved, alike on every rank.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "penstock/fft/decomposition.hpp"
#include "penstock/fft/fft.hpp"
#include "penstock/fft/local_transform.hpp"
#include "penstock/gas/gas.hpp"
#include "penstock/machine/machine.hpp"
#include "penstock/model/model.hpp"
#include "penstock/mover/mover.hpp"

namespace penstock::fft {

/// A transform as the model is asked about it, but for its tuning, and for planes that may stay in cache.
struct ModelledRun {
  machine::Machine machine;  ///< with what messages between nodes reach where the problem's machine does not tell that
  model::PlannedFft run;
};

/// What a schedule is made from, settled and checked. Its directions are numbered in the order in which they are
/// transformed: the first is called x here and below, whatever it is for the user.
struct Problem {
  Options options;              ///< without parts
  std::array<int, 3> sequence;  ///< by number: which direction of the user's it is
  machine::Machine machine;     ///< of the options, or detected
  Tuning tuning{};              ///< the candidate that was chosen
  gas::Carrier carrier = gas::Carrier::fastest;
  bool has_progress_thread = false;
  bool has_room_for_planes = false;  ///< on every rank: see has_room_for_planes
  std::int64_t real_bytes = 0;       ///< 4 or 8
  mover::Hint hint = mover::Hint::reuse;
  bool has_far_peers = false;  ///< ranks whose memory is not mapped: what they are sent lies in buffers first
  bool writes_arrays = false;  ///< of peers, where the user's array is the result: see Options::has_arrays
  std::optional<ModelledRun> modelled{};  ///< nothing where the model does not know such transforms
  std::vector<Candidate> candidates{};    ///< the one chosen first
  std::vector<Distribution> input{};      ///< the user's arrays, by rank
  std::vector<Distribution> output{};

  /// The fields of an interleaved batch, which are transformed together.
  std::int64_t components() const noexcept;
  std::int64_t complex_bytes() const noexcept { return 2 * real_bytes; }
  /// Bytes of a field's element before the first Fourier transform, and from it on.
  std::int64_t space_bytes() const noexcept { return options.type == Type::c2c ? complex_bytes() : real_bytes; }
  std::int64_t spectrum_bytes() const noexcept { return options.type == Type::r2r ? real_bytes : complex_bytes(); }
  /// How rows along a direction that is transformed are transformed forward.
  RowKind row_kind(int along) const noexcept;
  /// The numbers of an element that are each transformed along a direction: of interleaved fields, and the real and the
  /// imaginary part where complex numbers are transformed by sines or cosines.
  std::int64_t numbers(int along) const noexcept;
  /// The modes along a direction, where they are fewer than its points; else 0.
  std::int64_t modes(int along) const noexcept;
  /// Whether the elements are complex before the transform along a direction.
  bool is_complex_before(int along) const noexcept;
  /// A field's share of both of the user's arrays on `rank`: the bytes from one field of a batch to the next, where the
  /// batch is not interleaved.
  std::int64_t field_bytes(int rank) const noexcept;
  /// The bytes of the plan's own arrays on `rank`, for all fields of the batch.
  std::int64_t input_bytes(int rank) const noexcept;
  std::int64_t output_bytes(int rank) const noexcept;
};

/// The first and the last of the directions that are transformed; x where none is.
int first_direction(const Options& options) noexcept;
int last_direction(const Options& options) noexcept;

/// The direction that has n/2 + 1 points in the spectrum of real numbers: that of the first Fourier transform. Nothing
/// for other types, and where there is none.
std::optional<int> halved_direction(const Options& options) noexcept;

/// Whether this rank's caches have room for planes between the first two directions, and a plane for every thread to
/// work on. Local.
bool has_room_for_planes(const Problem& problem, const Grid& grid, int ranks) noexcept;

/// Settles `options` for the ranks of `team`; collective. Throws Error on every rank where they cannot be used, differ
/// between ranks, or ask for a field that the memory cannot hold.
template <class Real>
Problem resolve(const gas::Team& team, const Options& options);

/// Collective: throws Error on every rank where the ranks of some node need more than it has, or than the budget.
void check_memory(const gas::Team& team, const Options& options, const MemoryNeed& need);

}  // namespace penstock::fft

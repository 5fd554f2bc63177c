// The decisions of planning, the memory of a plan, and the times of a run by stage. Included by fft.hpp.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "penstock/fft/kinds.hpp"
#include "penstock/fft/wisdom.hpp"
#include "penstock/machine/machine.hpp"
#include "penstock/shape/shape.hpp"

#pragma GCC visibility push(default)

namespace penstock::model {
struct PlannedFft;
}

namespace penstock::fft {

/// The memory that a plan takes on a rank, and beside it one field of the user's, transformed in place.
struct MemoryNeed {
  std::uint64_t exchange_bytes = 0;  ///< memory that peers write into, and buffers for messages to other nodes
  std::uint64_t scratch_bytes = 0;   ///< tiles and planes in cache, of all threads
  std::uint64_t array_bytes = 0;     ///< the plan's own arrays: see Options::has_arrays
  std::uint64_t field_bytes = 0;     ///< the user's field; not in the total
  std::uint64_t total_bytes() const noexcept { return exchange_bytes + scratch_bytes + array_bytes; }
};

/// The most stages of a call. There is one per direction, there and (in a convolution or collocation) back, and at each
/// end one that only moves data, where the user's part is not what the first or last transform takes.
inline constexpr std::size_t max_stages = 7;

/// The time of one stage by what it was spent on, summed over the threads of a rank and divided by their number.
struct StageTime {
  double gather_s = 0;     ///< copying tiles into cache
  double transform_s = 0;  ///< 1-D transforms in cache
  double scatter_s = 0;    ///< copying tiles to the next place
  double wait_s = 0;       ///< waiting for peers
};

/// The time of a transform by stage.
struct Breakdown {
  std::array<StageTime, max_stages> stages{};  ///< in the order in which they run
  double total_s = 0;                          ///< from call to return
  double transform_s() const noexcept;
  double move_s() const noexcept;  ///< gathering and scattering
  double wait_s() const noexcept;
  /// Adds `share` times another breakdown, to make a sum or a mean.
  void add(const Breakdown& other, double share = 1) noexcept;
};

/// What one rank sends another in an exchange.
struct SentTo {
  int rank = 0;
  std::uint64_t bytes = 0;  ///< of one field
  std::uint64_t messages = 0;
};

/// One stage as planned, on this rank.
struct StagePlan {
  int pass = 0;                     ///< stages of one pass are joined by a plane in cache
  int along = 0;                    ///< the direction of its transforms
  bool is_move = false;             ///< no transform: data changes places
  std::uint64_t bytes_read = 0;     ///< from memory: the user's array, or data that peers wrote
  std::uint64_t bytes_written = 0;  ///< to memory: the user's array, the peers' memory, messages
  Box box;                          ///< of the points that this rank has before the stage
  std::vector<SentTo> sent;         ///< in the exchange that ends the stage, by rank; none where there is none
};

/// The decisions of a plan.
struct Decision {
  Tuning tuning;                      ///< of the forward direction
  std::string exchange_method;        ///< the name of the options' method; empty: the library's own
  bool has_progress_thread = false;   ///< a progress thread polls the network
  std::string local;                  ///< the library that transforms pencils along the first direction
  bool is_plane_in_cache = false;     ///< the first two directions are transformed in one pass over memory
  std::vector<Candidate> candidates;  ///< all candidates; the first is the one that was chosen
  machine::Machine machine;           ///< of the options or detected, with the network's rates where they were measured
  /// The run as the model sees it: `model::planned_fft_time(machine, *modelled)` is its prediction. nullptr where the
  /// model does not know such transforms: it knows complex and real ones, along all directions, by the library's own
  /// exchanges.
  std::shared_ptr<const model::PlannedFft> modelled;
  int passes = 0;  ///< how often a transform reads and writes the field
  std::vector<StagePlan> forward_stages;
  std::vector<StagePlan> backward_stages;
  std::vector<StagePlan> convolution_stages;  ///< none where the plan does not convolve
  std::vector<StagePlan> collocation_stages;  ///< none where the plan does not collocate
};

}  // namespace penstock::fft

#pragma GCC visibility pop

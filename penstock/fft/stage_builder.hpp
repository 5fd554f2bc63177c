// Makes the stages of a schedule and connects them: to the user's arrays, to exchanges, and to each other.
#pragma once

#include <array>
#include <optional>

#include "penstock/fft/block.hpp"
#include "penstock/fft/decomposition.hpp"
#include "penstock/fft/flows.hpp"
#include "penstock/fft/schedule.hpp"
#include "penstock/fft/tile_moves.hpp"

namespace penstock::fft {

/// The width of tiles where caches allow it: chunks of 256 bytes are moved at memory speed (measured 2026-11 on Zen 5:
/// 16 double complex as fast as 32 and faster than 4).
inline constexpr std::int64_t chunk_bytes = 256;

/// Builds the schedule of one direction on one rank, stage by stage. `problem` must outlive it.
class StageBuilder {
 public:
  StageBuilder(const Problem& problem, bool is_forward, int rank, int ranks)
      : problem_(problem),
        is_forward_(is_forward),
        rank_(rank),
        ranks_(ranks),
        spectrum_(problem.spectrum_points(), problem.grid),
        space_(problem.options.size, problem.grid),
        movers_{.code = problem.options.movers == Movers::compiled ? mover::Code::at_once : mover::Code::never} {}

  /// A stage over this rank's pencils along `along`; without a `kind` it only moves data. Real data is met along x.
  Stage stage(int outer, int across, int along, std::optional<RowKind> kind);

  /// The stage begins (or ends) at the user's array, stored in `order`.
  void from_user(Stage& stage, const std::array<int, 3>& order);
  void to_user(Stage& stage, const std::array<int, 3>& order);

  /// The stage sends what it makes to the pencils of the next one (`shape` says from, to and order; the rest is set
  /// here), which begins with `from_exchange`.
  void to_exchange(Stage& stage, FlowShape shape);
  void from_exchange(Stage& stage);

  /// The two stages share a pass, with a plane in cache between them: rows along the second's direction, as its tiles
  /// have them.
  void join(Stage& first, Stage& second);

  void add_pass(Stage stage);
  void add_pass(Stage first, Stage second);

  /// What was built.
  Schedule take() { return std::move(schedule_); }

 private:
  /// The user's array on this rank at the end of a stage: of real numbers where the stage makes or takes them.
  Block user_block(const Stage& stage, const std::array<int, 3>& order, bool is_source) const;

  const Problem& problem_;
  bool is_forward_;
  int rank_;
  int ranks_;
  Decomposition spectrum_;
  Decomposition space_;
  Schedule schedule_;
  std::size_t stages_ = 0;
  Flows flows_;  // of the exchange added last
  TileMovers movers_;
};

}  // namespace penstock::fft

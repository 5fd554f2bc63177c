// Makes the stages of a schedule and connects them: to the user's arrays, to exchanges, and to each other.
#pragma once

#include <utility>
#include <vector>

#include "penstock/fft/block.hpp"
#include "penstock/fft/decomposition.hpp"
#include "penstock/fft/flows.hpp"
#include "penstock/fft/route.hpp"
#include "penstock/fft/schedule.hpp"
#include "penstock/fft/tile_moves.hpp"

namespace penstock::fft {

/// Builds the schedule of a route on one rank, stage by stage. `problem` must outlive it.
class StageBuilder {
 public:
  StageBuilder(const Problem& problem, int rank)
      : problem_(problem),
        rank_(rank),
        movers_{.code = problem.options.movers == Movers::compiled ? mover::Code::at_once : mover::Code::never} {}

  /// The stage of this rank at a stop.
  Stage stage(const Stop& stop);

  /// The stage begins (or ends) at the user's array.
  void from_user(Stage& stage, const Distribution& part, const Stop& stop);
  void to_user(Stage& stage, const Distribution& part, const Stop& stop);

  /// The stage, at stop `from`, sends what it makes to the stages of the stop `to`, of which this rank's begins with
  /// `from_exchange`.
  void to_exchange(Stage& stage, const Stop& from, const Stop& to);
  void from_exchange(Stage& stage);

  /// The two stages share a pass, with a plane in cache between them: rows along the second's direction, as its tiles
  /// have them. The first is at stop `from`.
  void join(Stage& first, Stage& second, const Stop& from);

  void add_pass(std::vector<Stage> stages);

  /// What was built.
  Schedule take() { return std::move(schedule_); }

 private:
  const Box& mine(const Boxes& boxes) const { return boxes[static_cast<std::size_t>(rank_)]; }

  const Problem& problem_;
  int rank_;
  Schedule schedule_;
  std::size_t stages_ = 0;
  Flows flows_;  // of the exchange added last
  TileMovers movers_;
};

}  // namespace penstock::fft

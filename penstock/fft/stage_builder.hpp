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

  /// This rank's part of a stage, without its ends.
  Stage stage(const StageSpec& spec);

  /// The stage begins (or ends) at the user's array.
  void from_user(Stage& stage, const Distribution& part);
  void to_user(Stage& stage, const Distribution& part);

  /// The stage, of spec `from`, ends at the arrays of all ranks, whose parts of the result are `parts`.
  void to_peers(Stage& stage, const StageSpec& from, const std::vector<Distribution>& parts);

  /// The stage, of spec `from`, sends what it makes to the ranks' stages of spec `to`; this rank's begins with
  /// `from_exchange`.
  void to_exchange(Stage& stage, const StageSpec& from, const StageSpec& to);
  void from_exchange(Stage& stage);

  /// The stage shares a pass with the next one, which begins with `from_plane`: a plane in cache is between them.
  void to_plane(Stage& stage, const StageSpec& from, const StageSpec& to);
  void from_plane(Stage& stage);

  /// Both ends are known: what is planned, and the memory that it needs.
  void resolve(Stage& stage);

  void add_pass(std::vector<Stage> stages);

  /// What was built.
  Schedule take() { return std::move(schedule_); }

 private:
  const Box& mine(const Boxes& boxes) const { return boxes[static_cast<std::size_t>(rank_)]; }
  void connect_to_exchange(Stage& stage, std::int64_t planes, mover::Hint hint);
  int innermost_between(const StageSpec& from, const StageSpec& to) const;
  mover::Hint hint_of_messages() const;

  const Problem& problem_;
  int rank_;
  Schedule schedule_;
  std::size_t stages_ = 0;
  Flows flows_;  // of the exchange added last
  Block plane_;  // between the stage added last and the next
  TileMovers movers_;
};

}  // namespace penstock::fft

// Routes: the stages of a transform for all ranks, with the boxes that each rank holds before and after each stage.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "penstock/fft/decomposition.hpp"
#include "penstock/fft/local_transform.hpp"
#include "penstock/fft/problem.hpp"

namespace penstock::fft {

/// How a field is spread over the ranks.
struct FieldLayout {
  Boxes boxes;
  std::int64_t element_bytes = 0;
};

/// One stage, of all ranks alike: how their tiles walk the boxes, and the transform of its rows. A transform between
/// real and complex numbers has more points on one side than on the other.
struct StageSpec {
  int outer = 0;
  int across = 0;
  int along = 0;
  std::optional<RowKind> kind;  ///< nothing where data only changes places
  FieldLayout before;
  FieldLayout after;
  bool is_backward = false;
  bool turns_back = false;     ///< rows are transformed back at once, with the user's function between
  bool joins_next = false;     ///< shares a pass with the next stage, by a plane in cache
  bool ends_at_peers = false;  ///< the last one: leaves each point in the array of the rank whose result it is part of

  /// What the stage leaves: where it turns back, what it began with.
  const FieldLayout& result() const noexcept { return turns_back ? before : after; }
};

/// Whether each rank has the same points in both.
bool hold_the_same(const Boxes& a, const Boxes& b);

/// Where a route leads.
enum class Direction {
  forward,
  backward,
  there_and_back,  ///< from real space to the spectrum and back
  back_and_there,  ///< from the spectrum to real space and back
};

constexpr bool begins_in_space(Direction direction) noexcept {
  return direction == Direction::forward || direction == Direction::there_and_back;
}
constexpr bool ends_in_space(Direction direction) noexcept {
  return direction == Direction::backward || direction == Direction::there_and_back;
}

/// The stages of a route. The first begins at the user's array and the last ends at it. Where a user's part is not what
/// the first or last transform takes, a stage that only moves data comes before or after; unless ranks write each
/// other's arrays, which the stage before it then does.
std::vector<StageSpec> make_route(const Problem& problem, Direction direction);

}  // namespace penstock::fft
